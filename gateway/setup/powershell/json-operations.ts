export const jsonOperations = String.raw`
function json_remove($path, $n) {
  $member = $path + $sep + $n
  $comma = $doc.commas[$member]
  $start = $doc.begins[$member]
  $end = $doc.till_at[$doc.children[$member]]
  if ($null -ne $comma) { $end = $comma + 1 }
  if (json_is_first $start) {
    $start = json_line_of $start
    if ((take_text ($start - 1) 1) -ceq $lf) { $start-- }
    if ((take_text ($start - 1) 1) -ceq $cr) { $start-- }
  } elseif ($null -ne $comma) { $end += match_at $doc.lead $end }
  put_text $start $end ''
  if ($null -eq $comma -and $n -gt 0) {
    $before = $doc.commas[$path + $sep + ($n - 1)]
    put_text $before ($before + 1) ''
  }
}
# The number of existing names on the path. found is the last existing path.
function json_follow($names, $n) {
  $doc.found = ''
  for ($i = 0; $i -lt $n; $i++) {
    $kind = $doc.kinds[$doc.found]
    if ($kind -ceq 'n') { return $i }
    if ($kind -cne '{') {
      $what = 'its content'
      if ($i -gt 0) { $what = [string]::Join(' > ', $names, 0, $i) }
      refuse_text ($what + ' is not an object')
    }
    $below = $doc.found + $sep + $names[$i]
    if ($null -eq $doc.kinds[$below]) { return $i }
    $doc.found = $below
  }
  return $n
}
function json_set($names, $json, $is_default) {
  $n = $names.Length
  $known = json_follow $names $n
  if ($known -eq $n -and ($is_default -or (same_text (json_compact $doc.found) $json))) { return }
  $is_object = $doc.kinds[$doc.found] -ceq '{'
  $inner = $known
  if ($is_object) { $inner++ }
  for ($i = $n; $i -gt $inner; $i--) { $json = '{"' + $names[$i - 1] + '":' + $json + '}' }
  if ($known -eq $n -or -not $is_object) { json_replace $doc.found $json }
  else { json_insert $doc.found ($names[$known]) $json }
}
function json_take_out($names) {
  $n = $names.Length
  if ((json_follow $names $n) -lt $n) { return }
  $path = $doc.found
  [void](json_follow $names ($n - 1))
  for ($i = 0; $i -lt $doc.sizes[$doc.found]; $i++) {
    if (same_text ($doc.children[$doc.found + $sep + $i]) $path) {
      json_remove $doc.found $i
      return
    }
  }
}
# Replaces the entries with the same member by compact entries of the setup.
function json_replace_entries($names, $member, $is, $json) {
  $n = $names.Length
  if ((json_follow $names $n) -lt $n -or $doc.kinds[$doc.found] -ceq 'n') {
    json_set $names $json $false
    return
  }
  $path = $doc.found
  if ($doc.kinds[$path] -cne '[') { refuse_text ([string]::Join(' > ', $names, 0, $n) + ' is not a list') }
  $whole = $doc.text
  $doc.text = $json
  json_parse
  $entries = New-Object 'Collections.Generic.List[string]'
  for ($i = 0; $i -lt $doc.sizes['']; $i++) { $entries.Add((json_compact ($doc.children[$sep + $i]))) }
  $doc.text = $whole
  json_parse
  $old = ''
  for ($i = 0; $i -lt $doc.sizes[$path]; $i++) {
    $entry = $doc.children[$path + $sep + $i]
    if (json_is_ours $entry $member $is) { $old += ',' + (json_compact $entry) }
  }
  if (same_text $old (',' + $json.Substring(1, $json.Length - 2))) { return }
  for ($i = 0; $i -lt $doc.sizes[$path]; $i++) {
    if (json_is_ours ($doc.children[$path + $sep + $i]) $member $is) {
      json_remove $path $i
      json_parse
      $i = -1
    }
  }
  foreach ($entry in $entries) {
    json_insert $path '' $entry
    json_parse
  }
}
function json_is_ours($path, $member, $is) {
  $below = $path + $sep + $member
  return $null -ne $doc.kinds[$below] -and (same_text (json_compact $below) $is)
}
function edit_json($operations) {
  $doc.letters = [regex]'\G(?:[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*'
  $doc.words = [regex]'\G(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)'
  $doc.comments = [regex]'\G[ \t]*(?://[^\r\n]*|/\*[^*\r\n]*\*/)'
  if ($doc.text -cmatch '^[ \t\r\n]*$') { $doc.text = '{}' + $lf }
  json_parse
  if ($doc.kinds[''] -cne '{') { refuse_text 'its content is not an object' }
  foreach ($operation in $operations) {
    json_parse
    json_style
    $verb = $operation.Substring(0, $operation.IndexOf(' ', [StringComparison]::Ordinal))
    $line = $operation.Substring($verb.Length + 1)
    $json = ''
    $place = $line.IndexOf(' = ', [StringComparison]::Ordinal)
    if ($place -ge 0) {
      $json = $line.Substring($place + 3)
      $line = $line.Substring(0, $place)
    }
    $where = [regex]::Split($line, ' where ')
    $names = [regex]::Split($where[0], ' > ')
    if ($verb -ceq 'remove') { json_take_out $names }
    elseif ($verb -ceq 'entries') {
      $member = [regex]::Split($where[1], ' is ')
      json_replace_entries $names ($member[0]) ($member[1]) $json
    } else { json_set $names $json ($verb -ceq 'default') }
  }
}`;
