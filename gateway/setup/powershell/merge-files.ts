/** Merges in memory. Writes no file before all are valid. */
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
