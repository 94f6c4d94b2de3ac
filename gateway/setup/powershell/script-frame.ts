import { editorConstants } from "./editor-frame.ts";

/**
 * The script throws, because `exit` would close the user's window. Function names contain an underscore, so
 * that they cannot collide with aliases.
 */
export const scriptFrame = String.raw`
function say_line($text) { Write-Host $text }
function complain_of($text) { Write-Host $text -ForegroundColor Yellow }
function stop_setup($why) {
  complain_of $why
  throw 'stopped'
}
function start_setup($tool, $tool_name, $base_url) {
  $setup.tool = $tool
  $setup.tool_name = $tool_name
  $setup.base_url = $base_url
  # The tools use USERPROFILE. $HOME may be a network drive.
  $setup.home = [string]$env:USERPROFILE
  if ($setup.home.Length -eq 0) { $setup.home = [Environment]::GetFolderPath('UserProfile') }
  if ($setup.home.Length -eq 0) { stop_setup 'USERPROFILE is not set. Set it to your home folder.' }
  $setup.undo = find_place '' '.config/model-gateway' ('undo-' + $tool + '.ps1')
  $setup.undo_command = '& ([scriptblock]::Create((Get-Content -Raw -Encoding UTF8 -LiteralPath "$env:USERPROFILE\.config\model-gateway\undo-' + $tool + '.ps1")))'
}
# A folder that a variable may move: its default below the home folder, and the path below it.
function find_place($variable, $below_home, $path) {
  $folder = ''
  if ($variable.Length -gt 0) { $folder = [string][Environment]::GetEnvironmentVariable($variable) }
  if ($folder.Length -eq 0) { $folder = [IO.Path]::Combine($setup.home, (native_path $below_home)) }
  $place = [IO.Path]::Combine($folder, (native_path $path))
  return $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($place)
}
function native_path($path) { return $path.Replace('/', [string][IO.Path]::DirectorySeparatorChar) }
function look_for($program, $install) {
  if ($null -eq (Get-Command $program -ErrorAction SilentlyContinue)) {
    complain_of ($program + ' is not installed. Install it to use this setup: ' + $install)
  }
}
function finish_setup($next) {
  say_line $next
  if ([IO.File]::Exists($setup.undo)) { say_line ('To undo this: ' + $setup.undo_command) }
}
function report_failure($failure) {
  if ($failure.Exception.Message -ceq 'stopped') { return }
  complain_of ('Line ' + $failure.InvocationInfo.ScriptLineNumber + ' of the command failed. Correct this error, then repeat the command: ' + $failure.Exception.Message)
}`;

export const scriptEnd = String.raw`
if ([string]$ExecutionContext.SessionState.LanguageMode -ceq 'FullLanguage') {
  Set-StrictMode -Version 3.0
  $ErrorActionPreference = 'Stop'
  ${editorConstants}
  # A file's bytes as characters.
  $latin = [Text.Encoding]::GetEncoding(28591)
  $setup = @{ refused = $false; is_failed = $false; is_unverified = $false }
  $setup.files = New-Object 'Collections.Generic.List[object]'
  $setup.variables = New-Object 'Collections.Generic.List[object]'
  try { run_setup } catch {
    report_failure $_
    throw 'The command failed. Read the reason above, then repeat the command.'
  }
} else { throw 'This PowerShell runs in constrained mode, which blocks this command. Use a PowerShell in full language mode.' }`;

export const askForKey = String.raw`
function ask_for_key($given) {
  $source = 'The key in the command'
  $key = $given
  if ($key.Length -eq 0) {
    $source = 'The key in GATEWAY_API_KEY'
    $key = [string]$env:GATEWAY_API_KEY
    if ($key.Length -gt 0) { say_line 'Using the key in GATEWAY_API_KEY.' }
  }
  if ($key.Length -eq 0) {
    $source = 'The entered key'
    try { $secure = Read-Host -AsSecureString 'Gateway API key (hidden)' }
    catch { stop_setup 'There is no terminal to prompt for the API key. Set the environment variable GATEWAY_API_KEY.' }
    $key = (New-Object Net.NetworkCredential('', $secure)).Password -creplace '\s', ''
  }
  $advice = 'Copy the key again, or create a new one in the console.'
  if ($key -cnotmatch '^sk-gateway-') {
    stop_setup ($source + ' does not start with sk-gateway-. ' + $advice)
  }
  $how_many = 'it has ' + $key.Length + ' characters instead of 60. ' + $advice
  if ($key.Length -lt 60) { stop_setup ($source + ' is incomplete: ' + $how_many) }
  if ($key.Length -gt 60) { stop_setup ($source + ' is too long: ' + $how_many) }
  if ($key -cnotmatch '^[0-9A-Za-z-]{60}\z') {
    stop_setup ($source + ' contains an invalid character: only letters and digits follow sk-gateway-. ' + $advice)
  }
  $setup.key = $key
}`;

export const variables = String.raw`
function want_variable($name, $value) {
  $setup.variables.Add(@{ name = $name; value = $value.Replace('{{GATEWAY_API_KEY}}', $setup.key) })
}
function drop_variable($name) { $setup.variables.Add(@{ name = $name; value = $null }) }
function changed_variables {
  foreach ($variable in $setup.variables) {
    $variable.before = [Environment]::GetEnvironmentVariable($variable.name, 'User')
    $is_same = $null -eq $variable.before -and $null -eq $variable.value
    if ($null -ne $variable.before -and $null -ne $variable.value) { $is_same = same_text $variable.before $variable.value }
    if (-not $is_same) { Write-Output $variable }
  }
}
# A null that PowerShell does not convert to an empty string, which some .NET versions reject.
function set_variable($name, $value) {
  if ($null -eq $value) { $value = [NullString]::Value }
  [Environment]::SetEnvironmentVariable($name, $value, 'User')
}`;

/**
 * Typographic quotes also end a single-quoted PowerShell string. Doubling a quote escapes it.
 * https://learn.microsoft.com/en-us/powershell/module/microsoft.powershell.core/about/about_quoting_rules
 */
export function quote(text: string): string {
  return `'${text.replaceAll(/['\u2018-\u201b]/g, "$&$&")}'`;
}
