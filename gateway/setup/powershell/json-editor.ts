/**
 * Edits the text itself, because ConvertTo-Json loses comments, changes dates and numbers, and differs between
 * PowerShell 5.1 and 7. Regular expressions do not.
 */
export const jsonEditor = String.raw`
function edit_json($operations) {
  $doc.string = '"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"'
  $value = $doc.string + '|[{\[](?>[^"{}\[\]]+|' + $doc.string + '|(?<open>[{\[])|(?<-open>[}\]]))*(?(open)(?!))[}\]]|[^,"{}\[\] \t\r\n]+'
  $doc.member = [regex]('\G[ \t\r\n]*(?:(?<name>' + $doc.string + ')[ \t\r\n]*:[ \t\r\n]*)?(?<value>' + $value + ')[ \t\r\n]*(?<comma>,)?')
  $doc.comments = [regex]'\G[ \t]*(?://[^\r\n]*|/\*[^*\r\n]*\*/)'
  if ($doc.text -cmatch '^[ \t\r\n]*$') { $doc.text = '{}' + $lf }
  find_eol
  json_check
  $root = json_follow @()
  if ($doc.plain.Substring($root.Index, 1) -cne '{') { refuse_text 'its content is not an object' }
  $members = @(json_members $doc.plain $root.Index)
  $doc.is_inline = $members.Length -gt 0 -and -not $doc.text.Substring($root.Index, $root.Length).Contains($lf)
  $doc.unit = '  '
  if ($members.Length -gt 0 -and (json_is_first (json_start $members[0]))) { $doc.unit = json_lead (json_start $members[0]) }
  foreach ($operation in $operations) {
    $parts = [regex]::Match($operation, '^(?<verb>[a-z]+) (?<path>.*?)(?: where (?<member>.*?) is (?<is>.*?))?(?: = (?<json>.*))?$').Groups
    $names = [regex]::Split($parts['path'].Value, ' > ')
    $json = $parts['json'].Value
    if ($parts['verb'].Value -ceq 'remove') { json_take_out $names }
    elseif ($parts['verb'].Value -ceq 'entries') { json_replace_entries $names ($parts['member'].Value) ($parts['is'].Value) $json }
    else { json_set $names $json ($parts['verb'].Value -ceq 'default') }
  }
}
# Blanks the comments. Then replaces the innermost objects and lists until one value remains.
function json_check {
  $doc.plain = $doc.text
  if ($doc.lenient) { $doc.plain = [regex]::Replace($doc.text, $doc.string + '|//[^\r\n]*|/\*[\s\S]*?\*/', { json_blank ($args[0].Value) }) }
  $rest = [regex]::Replace($doc.plain, $doc.string, '""')
  if ($doc.lenient) { $rest = $rest -creplace '(?<=["}\]0-9a-z][ \t\r\n]*),(?=[ \t\r\n]*[}\]])', '' }
  $mark = [string][char]1
  if ($rest.Contains($mark)) { refuse_text 'it is not valid JSON' }
  $any = '[ \t\r\n]*(?:""|' + $mark + '|true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)[ \t\r\n]*'
  $pair = '[ \t\r\n]*""[ \t\r\n]*:' + $any
  $inner = [regex]('\{(?:[ \t\r\n]*|' + $pair + '(?:,' + $pair + ')*)\}|\[(?:[ \t\r\n]*|' + $any + '(?:,' + $any + ')*)\]')
  for ($depth = 0; $inner.IsMatch($rest); $depth++) {
    if ($depth -ge 64) { refuse_text 'it is nested too deeply' }
    $rest = $inner.Replace($rest, $mark)
  }
  if ($rest -cnotmatch ('^' + $any + '$')) { refuse_text 'it is not valid JSON' }
}
function json_blank($text) {
  if ($text.StartsWith('"', [StringComparison]::Ordinal)) { return $text }
  return ' ' * $text.Length
}
# The members of an object, or the entries of a list.
function json_members($text, $start) {
  $found = $doc.member.Match($text, $start + 1)
  while ($found.Success) {
    Write-Output $found
    $found = $doc.member.Match($text, $found.Index + $found.Length)
  }
}
function json_start($member) {
  if ($member.Groups['name'].Success) { return $member.Groups['name'].Index }
  return $member.Groups['value'].Index
}
function json_end($member) { return $member.Groups['value'].Index + $member.Groups['value'].Length }
# The value of the last existing name on the path. known is how many names exist, and above is the object of the last one.
function json_follow($names) {
  $value = $doc.member.Match($doc.plain, 0).Groups['value']
  for ($doc.known = 0; $doc.known -lt $names.Length; $doc.known++) {
    if ($value.Value -ceq 'null') { break }
    if ($doc.plain.Substring($value.Index, 1) -cne '{') { refuse_text ([string]::Join(' > ', $names, 0, $doc.known) + ' is not an object') }
    $below = $null
    foreach ($member in json_members $doc.plain $value.Index) {
      $name = $member.Groups['name'].Value
      if ($name -cmatch '\\u00[2-7]') { refuse_text ('the name ' + $name + ' contains escapes') }
      if (-not (same_text $name ('"' + $names[$doc.known] + '"'))) { continue }
      if ($null -ne $below) { refuse_text ('it contains the name ' + $name + ' twice in one object') }
      $below = $member.Groups['value']
    }
    if ($null -eq $below) { break }
    $doc.above = $value
    $value = $below
  }
  return $value
}
function json_put($start, $end, $new) {
  $doc.plain = $doc.plain.Substring(0, $start) + $new + $doc.plain.Substring($end)
  put_text $start $end $new
}
# Removes spaces and commas at the end, for comparisons.
function json_compact($text) { return [regex]::Replace($text, '(' + $doc.string + ')|[ \t\r\n]+', '$1') -creplace ',(?=[}\]])', '' }
# Breaks compact JSON into lines, unless the file has only one line.
function json_pretty($json, $indent) {
  if ($doc.is_inline) { return $json }
  $doc.lead_in = $doc.eol + $indent
  return [regex]::Replace($json, $doc.string + '|\{\}|\[\]|[{}\[\],:]', { json_break ($args[0].Value) })
}
function json_break($token) {
  if ($token -ceq ':') { return ': ' }
  if ($token -ceq ',') { return ',' + $doc.lead_in }
  if ($token -ceq '{' -or $token -ceq '[') {
    $doc.lead_in += $doc.unit
    return $token + $doc.lead_in
  }
  if ($token -cne '}' -and $token -cne ']') { return $token }
  $doc.lead_in = $doc.lead_in.Substring(0, $doc.lead_in.Length - $doc.unit.Length)
  return $doc.lead_in + $token
}
# The first position on the line, and its indentation.
function json_line_of($place) { return $doc.text.Substring(0, $place).LastIndexOf([char]10) + 1 }
function json_lead($place) {
  $start = json_line_of $place
  return take_text $start (match_at $doc.lead $start)
}
function json_is_first($place) { return (json_line_of $place) + (json_lead $place).Length -eq $place }
function json_set($names, $json, $is_default) {
  $value = json_follow $names
  $known = $doc.known
  $is_there = $known -eq $names.Length
  if ($is_there -and ($is_default -or (same_text (json_compact $value.Value) (json_compact $json)))) { return }
  $is_object = -not $is_there -and $value.Value -cne 'null'
  for ($i = $names.Length - 1; $i -ge $known + [int]$is_object; $i--) { $json = '{"' + $names[$i] + '":' + $json + '}' }
  if ($is_object) { json_insert $value ('"' + $names[$known] + '":') $json }
  else { json_put $value.Index ($value.Index + $value.Length) (json_pretty $json (json_lead $value.Index)) }
}
# Adds a member to an object, or an entry to a list.
function json_insert($value, $name, $json) {
  if ($name.Length -gt 0 -and -not $doc.is_inline) { $name += ' ' }
  $members = @(json_members $doc.plain $value.Index)
  $indent = json_lead $value.Index
  if ($members.Length -eq 0) {
    $start = $value.Index + 1
    $end = $value.Index + $value.Length - 1
    $new = $name + (json_pretty $json ($indent + $doc.unit))
    if (-not $doc.is_inline) { $new = $doc.eol + $indent + $doc.unit + $new }
    $inner = $doc.text.Substring($start, $end - $start)
    if ($inner -cmatch '^[ \t\r\n]*$') { if (-not $doc.is_inline) { $new += $doc.eol + $indent } }
    else {
      if (-not $doc.is_inline -and -not $inner.Contains($lf)) { json_put $end $end ($doc.eol + $indent) }
      $end = $start
    }
    json_put $start $end $new
    return
  }
  $last = $members[$members.Length - 1]
  $place = json_end $last
  $indent = json_lead (json_start $last)
  $is_line = json_is_first (json_start $last)
  $doc.at = $place
  if ($last.Groups['comma'].Success) { $doc.at = $last.Groups['comma'].Index + 1 }
  if ($is_line -and $doc.lenient) { $doc.at += match_at $doc.comments $doc.at }
  $new = ' ' + $name + $json
  if ($doc.is_inline) { $new = $name + $json }
  if ($is_line) { $new = $doc.eol + $indent + $name + (json_pretty $json $indent) }
  if ($last.Groups['comma'].Success) { $new += ',' }
  json_put $doc.at $doc.at $new
  if (-not $last.Groups['comma'].Success) { json_put $place $place ',' }
}
function json_remove($members, $n) {
  $comma = $members[$n].Groups['comma']
  $start = json_start $members[$n]
  $end = json_end $members[$n]
  if ($comma.Success) { $end = $comma.Index + 1 }
  if (json_is_first $start) {
    $start = json_line_of $start
    if ((take_text ($start - 1) 1) -ceq $lf) { $start-- }
    if ((take_text ($start - 1) 1) -ceq $cr) { $start-- }
  } elseif ($comma.Success) { $end += match_at $doc.lead $end }
  json_put $start $end ''
  if (-not $comma.Success -and $n -gt 0) {
    $before = $members[$n - 1].Groups['comma'].Index
    json_put $before ($before + 1) ''
  }
}
function json_take_out($names) {
  $place = (json_follow $names).Index
  if ($doc.known -lt $names.Length) { return }
  $members = @(json_members $doc.plain $doc.above.Index)
  for ($i = $members.Length - 1; $i -ge 0; $i--) { if ($members[$i].Groups['value'].Index -eq $place) { json_remove $members $i } }
}
# Replaces the entries with the same member by entries of the setup.
function json_replace_entries($names, $member, $is, $json) {
  $value = json_follow $names
  if ($doc.known -lt $names.Length -or $value.Value -ceq 'null') {
    json_set $names $json $false
    return
  }
  if ($doc.plain.Substring($value.Index, 1) -cne '[') { refuse_text ([string]::Join(' > ', $names) + ' is not a list') }
  $members = @(json_members $doc.plain $value.Index)
  $old = @(for ($i = 0; $i -lt $members.Length; $i++) { if (json_is_ours ($members[$i].Groups['value']) $member $is) { $i } })
  $texts = @(foreach ($i in $old) { json_compact ($members[$i].Groups['value'].Value) })
  if (same_text ('[' + [string]::Join(',', [string[]]$texts) + ']') $json) { return }
  for ($i = $old.Length - 1; $i -ge 0; $i--) { json_remove (@(json_members $doc.plain $value.Index)) ($old[$i]) }
  foreach ($entry in json_members $json 0) { json_insert (json_follow $names) '' ($entry.Groups['value'].Value) }
}
function json_is_ours($entry, $member, $is) {
  if (-not $entry.Value.StartsWith('{', [StringComparison]::Ordinal)) { return $false }
  foreach ($inner in json_members $entry.Value 0) {
    if ((same_text $inner.Groups['name'].Value ('"' + $member + '"')) -and (same_text $inner.Groups['value'].Value $is)) { return $true }
  }
  return $false
}`;
