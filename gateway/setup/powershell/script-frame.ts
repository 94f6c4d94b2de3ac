import { editorConstants } from "./editor-frame.ts";

/**
 * The output, start and end of the script. It throws instead of exiting, because the window belongs to the
 * user. It also runs where a policy blocks script files. Function names have an underscore, unlike aliases.
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
    complain_of ($program + ' is not installed. Its setup applies after the installation: ' + $install)
  }
}
function finish_setup($next) {
  say_line $next
  if ([IO.File]::Exists($setup.undo)) { say_line ('To undo this: ' + $setup.undo_command) }
  if ($setup.is_failed) { throw 'stopped' }
}
function report_failure($failure) {
  if ($failure.Exception.Message -ceq 'stopped') { return }
  complain_of ('An error occurred in line ' + $failure.InvocationInfo.ScriptLineNumber + ': ' + $failure.Exception.Message)
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
    throw 'The command failed. The reason is above.'
  }
} else { throw 'This PowerShell runs in constrained mode, which blocks this command. Nothing was changed.' }`;
