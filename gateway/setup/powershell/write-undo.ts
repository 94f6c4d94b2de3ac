import { quote } from "./script-frame.ts";

/**
 * Keeps a copy of each file that changed after the setup. Also restores the previous undo script, so that
 * earlier setups can be undone too.
 */
export const undoScript = String.raw`
Set-StrictMode -Version 3.0
$ErrorActionPreference = 'Stop'
$undo = @{ failed = $false; now = [DateTime]::Now.ToString('yyyyMMddHHmmss', [Globalization.CultureInfo]::InvariantCulture) }
function hash_of($bytes) { return [BitConverter]::ToString([Security.Cryptography.SHA256]::Create().ComputeHash($bytes)) }
function undo_failed($why) {
  Write-Host $why -ForegroundColor Yellow
  $undo.failed = $true
}
function put_back($target, $backup, $hash) {
  try {
    if ($backup.Length -gt 0 -and -not [IO.File]::Exists($backup)) {
      undo_failed ($target + ' was not changed, because its backup ' + $backup + ' is missing. Remove the gateway settings from the file manually.')
      return
    }
    if ([IO.File]::Exists($target) -and (hash_of ([IO.File]::ReadAllBytes($target))) -cne $hash) {
      $copy = $target + '.bak-' + $undo.now
      while (Test-Path -LiteralPath $copy) { $copy += '-2' }
      [IO.File]::Copy($target, $copy)
      Write-Host ($target + ' has changed since the setup. The changed version is saved as ' + $copy + '.')
    }
    if ($backup.Length -eq 0) {
      [IO.File]::Delete($target)
      Write-Host ('removed ' + $target)
      return
    }
    if ([IO.File]::Exists($target)) { [IO.File]::Replace($backup, $target, [NullString]::Value) } else { [IO.File]::Move($backup, $target) }
    Write-Host ('restored ' + $target)
  } catch { undo_failed ($target + ' could not be restored. Correct this error, then undo again: ' + $_.Exception.Message) }
}
function put_back_variable($name, $had, $before, $hash) {
  $now = [string][Environment]::GetEnvironmentVariable($name, 'User')
  if ((hash_of ([Text.Encoding]::UTF8.GetBytes($now))) -cne $hash) {
    Write-Host ('The variable ' + $name + ' has changed since the setup and was not restored.')
    return
  }
  $value = [NullString]::Value
  if ($had) { $value = $before }
  [Environment]::SetEnvironmentVariable($name, $value, 'User')
  Write-Host ('restored the variable ' + $name)
}
function finish_undo($script, $before, $folders) {
  if ($undo.failed) { return }
  [IO.File]::Delete($script)
  if ($before.Length -gt 0) { [IO.File]::Move($before, $script) }
  foreach ($folder in $folders) {
    if ([IO.Directory]::Exists($folder) -and [IO.Directory]::GetFileSystemEntries($folder).Length -eq 0) { [IO.Directory]::Delete($folder) }
  }
}`.trim();

/** The byte order mark lets PowerShell 5.1 read the undo script as UTF-8. */
export const writeUndo = String.raw`
function write_undo($files, $variables) {
  make_folder ([IO.Path]::GetDirectoryName($setup.undo))
  $before = ''
  if ([IO.File]::Exists($setup.undo)) {
    $before = free_name ($setup.undo + '.bak-' + $setup.now)
    $setup.made.Add($before)
    [IO.File]::Copy($setup.undo, $before)
    protect_file $before
  }
  $lines = New-Object 'Collections.Generic.List[string]'
  $lines.Add('# Undoes the setup of ' + $setup.tool_name + ' of ' + $setup.now + '.')
  foreach ($line in undo_lines) { $lines.Add($line) }
  foreach ($file in $files) {
    $lines.Add('put_back ' + (quote_text $file.target) + ' ' + (quote_text $file.backup) + ' ' + (quote_text (hash_text $latin $file.text)))
  }
  foreach ($variable in $variables) {
    $had = '$false'
    if ($null -ne $variable.before) { $had = '$true' }
    $hash = hash_text ([Text.Encoding]::UTF8) ([string]$variable.value)
    $lines.Add('put_back_variable ' + (quote_text $variable.name) + ' ' + $had + ' ' + (quote_text ([string]$variable.before)) + ' ' + (quote_text $hash))
  }
  $folders = '@('
  foreach ($folder in $setup.folders) {
    if ($folders.Length -gt 2) { $folders += ', ' }
    $folders += quote_text $folder
  }
  $lines.Add('finish_undo ' + (quote_text $setup.undo) + ' ' + (quote_text $before) + ' ' + $folders + ')')
  $text = [string]::Join([Environment]::NewLine, $lines.ToArray()) + [Environment]::NewLine
  if ($before.Length -eq 0) { $setup.made.Add($setup.undo) }
  [IO.File]::WriteAllText($setup.undo, $text, (New-Object Text.UTF8Encoding($true)))
  protect_file $setup.undo
}
function hash_text($encoding, $text) {
  return [BitConverter]::ToString([Security.Cryptography.SHA256]::Create().ComputeHash($encoding.GetBytes($text)))
}
# Doubles every character that PowerShell accepts as a single quote.
function quote_text($text) { return $apostrophe + ($text -creplace '[\x27\u2018-\u201b]', '$0$0') + $apostrophe }
function undo_lines {
${undoScript.split("\n").map(quote).join("\n")}
}`;
