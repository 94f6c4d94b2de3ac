/** https://toml.io/en/v1.0.0 */
export const tomlEditor = String.raw`
# Every key with its path and the position of its value, and every table's header.
function toml_parse {
  $doc.keys_at = New-Object 'Collections.Generic.List[object]'
  $doc.tables = New-Object 'Collections.Generic.List[object]'
  $doc.lists = New-Object Collections.Hashtable
  $doc.root_end = 0
  $doc.table = ''
  $doc.at = 0
  toml_skip $true
  while ($doc.at -lt $doc.text.Length) {
    $start = $doc.at
    if ((take_text $start 1) -ceq '[') { toml_header $start } else { toml_pair }
    toml_skip $false
    if ((take_text $doc.at 1) -ceq $cr) { $doc.at++ }
    if ($doc.at -lt $doc.text.Length -and (take_text $doc.at 1) -cne $lf) { toml_broken }
    if ($doc.tables.Count -eq 0) { $doc.root_end = $doc.at } else { $doc.tables[$doc.tables.Count - 1].till = $doc.at }
    toml_skip $true
  }
}
function toml_broken { refuse_text ('line ' + (line_number) + ' is not valid TOML') }
function toml_leap($pattern) {
  $length = match_at $pattern $doc.at
  $doc.at += $length
  return $length -gt 0
}
# Skips spaces and a comment, over several lines if is_far.
function toml_skip($is_far) {
  while ($true) {
    if ($is_far) { $doc.at += match_at $doc.blanks $doc.at } else { $doc.at += match_at $doc.lead $doc.at }
    if ((take_text $doc.at 1) -cne '#') { return }
    $doc.at += match_at $doc.comments $doc.at
    if (-not $is_far) { return }
  }
}
function toml_header($start) {
  $doc.at++
  $is_list = (take_text $doc.at 1) -ceq '['
  if ($is_list) { $doc.at++ }
  $path = toml_key_path ''
  if ((take_text $doc.at 1) -cne ']') { toml_broken }
  $doc.at++
  if ($is_list) {
    if ((take_text $doc.at 1) -cne ']') { toml_broken }
    $doc.at++
    $doc.lists[$path] = $true
    $path = $path + $sep + '[]'
  }
  $doc.table = $path
  $doc.tables.Add(@{ path = $path; from = $start; till = $doc.at })
}
function toml_pair {
  $path = toml_key_path $doc.table
  if ((take_text $doc.at 1) -cne '=') { toml_broken }
  $doc.at++
  toml_skip $false
  $start = $doc.at
  toml_value
  $doc.keys_at.Add(@{ path = $path; from = $start; till = $doc.at })
}
function toml_key_path($path) {
  while ($true) {
    toml_skip $false
    $start = $doc.at
    $mark = take_text $start 1
    if ($mark -ceq '"' -or $mark -ceq $apostrophe) {
      toml_quoted $mark
      $path = $path + $sep + $doc.text.Substring($start + 1, $doc.at - $start - 2)
    } else {
      if (-not (toml_leap $doc.bare)) { toml_broken }
      $path = $path + $sep + $doc.text.Substring($start, $doc.at - $start)
    }
    toml_skip $false
    if ((take_text $doc.at 1) -cne '.') { return $path }
    $doc.at++
  }
}
function toml_quoted($mark) {
  $doc.at++
  while ($true) {
    $char = take_text $doc.at 1
    if ($char -ceq $mark) { break }
    if ($char.Length -eq 0 -or $char -ceq $lf) { toml_broken }
    if ($char -ceq '\' -and $mark -ceq '"') { $doc.at++ }
    $doc.at++
  }
  $doc.at++
}
function toml_value {
  $char = take_text $doc.at 1
  $three = take_text $doc.at 3
  if ($three -ceq '"""' -or $three -ceq ($apostrophe + $apostrophe + $apostrophe)) {
    $doc.at += 3
    while ((take_text $doc.at 3) -cne $three) {
      if ($doc.at -ge $doc.text.Length) { toml_broken }
      if ((take_text $doc.at 1) -ceq '\' -and $char -ceq '"') { $doc.at++ }
      $doc.at++
    }
    # One or two quotes may precede the three that end the string.
    $doc.at += 3
    while ((take_text $doc.at 1) -ceq $char) { $doc.at++ }
  } elseif ($char -ceq '"' -or $char -ceq $apostrophe) { toml_quoted $char }
  elseif ($char -ceq '[' -or $char -ceq '{') {
    $doc.at++
    toml_skip $true
    while ($true) {
      $char = take_text $doc.at 1
      if ($char -ceq ']' -or $char -ceq '}') { break }
      if ($doc.at -ge $doc.text.Length) { toml_broken }
      if ($char -ceq '"' -or $char -ceq $apostrophe -or $char -ceq '[' -or $char -ceq '{') { toml_value } else { $doc.at++ }
      toml_skip $true
    }
    $doc.at++
  } else {
    if (-not (toml_leap $doc.words)) { toml_broken }
    [void](toml_leap $doc.times)
  }
}`;
