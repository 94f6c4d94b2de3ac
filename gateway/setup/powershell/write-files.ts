export const writeFiles = String.raw`
function write_files {
  if ($setup.refused) { stop_setup 'Nothing was changed. Correct the file, then repeat the command.' }
  $setup.now = [DateTime]::Now.ToString('yyyyMMddHHmmss', [Globalization.CultureInfo]::InvariantCulture)
  $setup.made = New-Object 'Collections.Generic.List[string]'
  $setup.folders = New-Object 'Collections.Generic.List[string]'
  $files = New-Object 'Collections.Generic.List[object]'
  foreach ($file in $setup.files) {
    if ([IO.File]::Exists($file.target) -and (same_text (read_bytes $file.target) $file.text)) { protect_file $file.target }
    else { $files.Add($file) }
  }
  $variables = @(changed_variables)
  if ($files.Count + $variables.Length -eq 0) {
    say_line ($setup.tool_name + ': already set up. Nothing was changed.')
    return
  }
  try {
    foreach ($file in $files) { prepare_file $file }
    write_undo $files $variables
  } catch { give_up $_ }
  try {
    foreach ($file in $files) { put_in_place $file.new $file.target }
    foreach ($variable in $variables) { set_variable $variable.name $variable.value }
  } catch {
    complain_of $_.Exception.Message
    stop_setup ('Some files could not be written. Undo the others with: ' + $setup.undo_command)
  }
  say_line ($setup.tool_name + ': set up for the gateway at ' + $setup.base_url + '.')
  foreach ($file in $files) {
    if ($file.backup.Length -eq 0) { say_line ('  created ' + $file.target) }
    else {
      say_line ('  changed ' + $file.target)
      say_line ('    backup  ' + $file.backup)
    }
  }
  foreach ($variable in $variables) {
    if ($null -eq $variable.value) { say_line ('  removed the variable ' + $variable.name) }
    else { say_line ('  set     the variable ' + $variable.name) }
  }
}
# Writes the new file and a backup beside the old one.
function prepare_file($file) {
  make_folder ([IO.Path]::GetDirectoryName($file.target))
  $file.backup = ''
  if ([IO.File]::Exists($file.target)) {
    $file.backup = free_name ($file.target + '.bak-' + $setup.now)
    $setup.made.Add($file.backup)
    [IO.File]::Copy($file.target, $file.backup)
    protect_file $file.backup
  }
  $file.new = free_name ($file.target + '.new-' + $setup.now)
  $setup.made.Add($file.new)
  [IO.File]::WriteAllBytes($file.new, [byte[]]@())
  protect_file $file.new
  [IO.File]::WriteAllBytes($file.new, $latin.GetBytes($file.text))
}
# Keeps the permissions and the location of an existing file.
function put_in_place($new, $target) {
  if ([IO.File]::Exists($target)) { [IO.File]::Replace($new, $target, [NullString]::Value) } else { [IO.File]::Move($new, $target) }
  protect_file $target
}
function make_folder($folder) {
  if ([IO.Directory]::Exists($folder)) { return }
  make_folder ([IO.Path]::GetDirectoryName($folder))
  [void][IO.Directory]::CreateDirectory($folder)
  $setup.folders.Insert(0, $folder)
}
function free_name($name) {
  while (Test-Path -LiteralPath $name) { $name += '-2' }
  return $name
}
# Permissions as in a user's profile: the owner, the system and its administrators.
function protect_file($target) {
  $ErrorActionPreference = 'Continue'
  $PSNativeCommandUseErrorActionPreference = $false
  try {
    if ($env:OS -ceq 'Windows_NT') {
      $rights = '*' + [Security.Principal.WindowsIdentity]::GetCurrent().User.Value + ':F'
      $program = [IO.Path]::Combine([Environment]::SystemDirectory, 'icacls.exe')
      $said = & $program $target /inheritance:r /grant:r $rights '*S-1-5-18:F' '*S-1-5-32-544:F' /q
    } else { $said = & chmod 600 $target }
    if ($LASTEXITCODE -ne 0) { throw ([string]$said) }
  } catch { complain_of ('The permissions of ' + $target + ' were not restricted (' + $_.Exception.Message + '). Restrict them, so that other users cannot read the key.') }
}
function give_up($failure) {
  foreach ($file in $setup.made) { [IO.File]::Delete($file) }
  foreach ($folder in $setup.folders) { try { [IO.Directory]::Delete($folder) } catch { complain_of ('The folder ' + $folder + ' was not deleted. Delete it manually.') } }
  complain_of $failure.Exception.Message
  stop_setup 'Nothing was changed, because a file could not be written. Check the error, then repeat the command.'
}`;

/** Merges in memory, so that a failed merge changes no file. */
export const mergeFiles = String.raw`
# The path of a file, and of the file that the tool prefers.
function merge_file($format, $place, $rival, $operations) {
  if ($rival.Length -gt 0 -and (Test-Path -LiteralPath $rival)) { $place = $rival }
  $target = $place
  try {
    $target = find_target $place
    $text = edit_text $format (read_bytes $target) $operations $setup.key
    $setup.files.Add(@{ target = $target; text = $text })
  } catch { refuse_file $format $target $operations $_ }
}
# A file that the setup owns. The other path is used if that file belongs to the user.
function own_file($place, $other, $lines) {
  $target = $place
  try {
    $target = find_target $place
    if ($other.Length -gt 0 -and (is_foreign $target $lines)) { $target = find_target $other }
    if (is_foreign $target $lines) { refuse_text 'it exists and does not belong to this setup' }
    $text = edit_text 'own' '' $lines $setup.key
    $setup.files.Add(@{ target = $target; text = $text })
  } catch { refuse_file 'own' $target $lines $_ }
}
function is_foreign($target, $lines) {
  if (-not [IO.File]::Exists($target)) { return $false }
  return -not (same_text ((read_bytes $target).Split([char]10)[0].TrimEnd([char]13)) ($lines[0]))
}
# Follows all symbolic links.
function find_target($place) {
  $target = $place
  for ($links = 0; $links -lt 20; $links++) {
    $item = Get-Item -LiteralPath $target -Force -ErrorAction SilentlyContinue
    if ($null -eq $item -or $item.LinkType -cne 'SymbolicLink') {
      if ([IO.Directory]::Exists($target)) { refuse_text 'it is a folder' }
      if ($null -ne $item -and $item.IsReadOnly) { refuse_text 'it is read-only' }
      return $target
    }
    $link = [string]@($item.Target)[0]
    $target = [IO.Path]::GetFullPath([IO.Path]::Combine([IO.Path]::GetDirectoryName($target), $link))
  }
  refuse_text 'its symbolic link is broken'
}
function read_bytes($target) {
  if (-not [IO.File]::Exists($target)) { return '' }
  try { $bytes = [IO.File]::ReadAllBytes($target) } catch { refuse_text 'it cannot be read' }
  return $latin.GetString($bytes)
}
function refuse_file($format, $target, $operations, $failure) {
  $why = $failure.Exception.Message
  if (-not $why.StartsWith('refused: ', [StringComparison]::Ordinal)) { throw $failure }
  $setup.refused = $true
  $why = [Text.Encoding]::UTF8.GetString($latin.GetBytes($why.Substring(9)))
  complain_of ($target + ' was not changed: ' + $why + '.')
  complain_of 'To change it manually, merge this into it:'
  complain_of (edit_text $format '' $operations '<your API key>')
}`;
