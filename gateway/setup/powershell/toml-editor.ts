/** https://toml.io/en/v1.0.0 */
export const tomlEditor = String.raw`
function edit_toml($operations) {
  $basic = '"(?:[^"\\\n]|\\[^\n])*"'
  $literal = $apostrophe + '[^' + $apostrophe + '\n]*' + $apostrophe
  $three = $apostrophe + $apostrophe + $apostrophe
  $text = '"""(?:[^"\\]|\\[\s\S]|"(?!""))*"{3,5}|' + $three + '(?:[^' + $apostrophe + ']|' + $apostrophe + '(?!' + $apostrophe + $apostrophe + '))*' + $apostrophe + '{3,5}|' + $basic + '|' + $literal
  $comment = '#[^\r\n]*'
  $name = '(?:[A-Za-z0-9_-]+|' + $basic + '|' + $literal + ')'
  $path = $name + '(?:[ \t]*\.[ \t]*' + $name + ')*'
  $value = $text + '|[\[{](?>[^"#{}\[\]' + $apostrophe + ']+|' + $comment + '|' + $text + '|(?<open>[{\[])|(?<-open>[}\]]))*(?(open)(?!))[}\]]|[-+A-Za-z0-9_.:]+(?: [0-9][0-9]:[-+A-Za-z0-9_.:]+)?'
  $doc.name = [regex]$name
  $doc.gap = [regex]('\G(?:[ \t\r\n]+|' + $comment + ')*')
  $doc.line = [regex]('\G(?:(?<list>\[)?\[[ \t]*(?<table>' + $path + ')[ \t]*\](?(list)\])|(?<key>' + $path + ')[ \t]*=[ \t]*(?<value>' + $value + '))[ \t]*(?:' + $comment + ')?(?=\r?\n|\r?\z)')
  find_eol
  foreach ($operation in $operations) {
    toml_parse
    $parts = [regex]::Match($operation, '^(?<verb>[a-z]+) (?<path>.*?)(?: except(?<kept>.*)| = (?<json>.*))$').Groups
    $names = [regex]::Split($parts['path'].Value, ' > ')
    if ($parts['verb'].Value -ceq 'drop') { toml_drop $names ($parts['kept'].Value) } else { toml_set $names ($parts['json'].Value) }
  }
}
# Every key with its path and its value, and every table with its position.
function toml_parse {
  $doc.pairs = New-Object 'Collections.Generic.List[object]'
  $doc.tables = New-Object 'Collections.Generic.List[object]'
  $doc.lists = New-Object Collections.Hashtable
  $doc.root_end = 0
  $table = ''
  $doc.at = match_at $doc.gap 0
  while ($doc.at -lt $doc.text.Length) {
    $found = $doc.line.Match($doc.text, $doc.at)
    if (-not $found.Success) { refuse_text ('line ' + (take_text 0 ($doc.at + 1)).Split([char]10).Length + ' is not valid TOML') }
    if ($found.Groups['table'].Success) {
      $table = toml_path '' ($found.Groups['table'].Value)
      if ($found.Groups['list'].Success) {
        $doc.lists[$table] = $true
        $table += $sep + '[]'
      }
      $doc.tables.Add(@{ path = $table; from = $doc.at; till = 0 })
    } else { $doc.pairs.Add(@{ path = (toml_path $table ($found.Groups['key'].Value)); value = $found.Groups['value'] }) }
    $doc.at += $found.Length
    if ($doc.tables.Count -eq 0) { $doc.root_end = $doc.at } else { $doc.tables[$doc.tables.Count - 1].till = $doc.at }
    $doc.at += match_at $doc.gap $doc.at
  }
}
function toml_path($path, $dotted) {
  foreach ($name in $doc.name.Matches($dotted)) { $path += $sep + ($name.Value -creplace '^["\x27]|["\x27]$', '') }
  return $path
}
function toml_is_below($path, $above) { return $path.StartsWith($above + $sep, [StringComparison]::Ordinal) }
function toml_bare($name) {
  if ($name -cmatch '^[A-Za-z0-9_-]+$') { return $name }
  return '"' + $name + '"'
}
function toml_set($names, $json) {
  $last = $names[$names.Length - 1]
  $above = ''
  $shown = ''
  for ($i = 0; $i -lt $names.Length - 1; $i++) {
    $above += $sep + $names[$i]
    $shown += '.' + (toml_bare ($names[$i]))
    if ($doc.lists[$above]) { refuse_text ($shown.Substring(1) + ' is a list of tables') }
  }
  $full = $above + $sep + $last
  foreach ($key in $doc.pairs) {
    if (-not (same_text $key.path $full)) { continue }
    if (-not (same_text $key.value.Value $json)) { put_text $key.value.Index ($key.value.Index + $key.value.Length) $json }
    return
  }
  $end = -1
  if ($above.Length -eq 0) { $end = $doc.root_end }
  foreach ($table in $doc.tables) {
    if ((same_text $table.path $full) -or (toml_is_below $table.path $full)) { refuse_text ($last + ' is a table') }
    if ($above.Length -gt 0 -and (same_text $table.path $above)) { $end = $table.till }
  }
  foreach ($key in $doc.pairs) {
    $is_beside = $end -lt 0 -and (toml_is_below $key.path $above)
    if ($is_beside -or (toml_is_below $full $key.path) -or (toml_is_below $key.path $full)) {
      $what = $last
      if ($shown.Length -gt 0) { $what = $shown.Substring(1) }
      refuse_text ($what + ' has a form that this command cannot change')
    }
  }
  $line = (toml_bare $last) + ' = ' + $json
  if ($end -eq 0) {
    $gap = $doc.eol
    if ($doc.text.Length -gt 0) { $gap += $doc.eol }
    put_text 0 0 ($line + $gap)
  } elseif ($end -gt 0) {
    $new = $doc.eol + $line
    if ($end -ge $doc.text.Length) { $new += $doc.eol }
    put_text $end $end $new
  } else {
    if ($doc.text.Length -gt 0) {
      if (-not $doc.text.EndsWith($lf, [StringComparison]::Ordinal)) { $doc.text += $doc.eol }
      $doc.text += $doc.eol
    }
    $doc.text += '[' + $shown.Substring(1) + ']' + $doc.eol + $line + $doc.eol
  }
}
# The tables below one with the same prefix, except those to keep.
function toml_drop($names, $kept) {
  $above = ''
  for ($i = 0; $i -lt $names.Length - 1; $i++) { $above += $sep + $names[$i] }
  for ($i = $doc.tables.Count - 1; $i -ge 0; $i--) {
    $table = $doc.tables[$i]
    if (-not (toml_is_below $table.path $above)) { continue }
    $name = $table.path.Substring($above.Length + 1).Split($sep)[0]
    if (-not $name.StartsWith($names[$names.Length - 1], [StringComparison]::Ordinal)) { continue }
    if ((' ' + $kept + ' ').Contains(' ' + $name + ' ')) { continue }
    $start = $table.from
    $end = $table.till
    while ($start -gt 0 -and (match_at $doc.blanks ($start - 1)) -gt 0) { $start-- }
    if ($start -eq 0) { $end += match_at $doc.blanks $end }
    put_text $start $end ''
    if ($start -gt 0 -and $start -ge $doc.text.Length) { $doc.text += $doc.eol }
  }
}`;
