export const tomlOperations = String.raw`
function toml_is_below($path, $above) { return $path.StartsWith($above + $sep, [StringComparison]::Ordinal) }
function toml_bare($name) {
  if ($name -cmatch '^[A-Za-z0-9_-]+$') { return $name }
  return '"' + $name + '"'
}
function toml_set($names, $json) {
  $n = $names.Length
  $full = ''
  $above = ''
  $shown = ''
  for ($i = 0; $i -lt $n; $i++) {
    $full += $sep + $names[$i]
    if ($i -lt $n - 1) {
      $above = $full
      if ($i -gt 0) { $shown += '.' }
      $shown += toml_bare ($names[$i])
      if ($doc.lists[$above]) { refuse_text ($shown + ' is a list of tables') }
    }
  }
  $last = $names[$n - 1]
  foreach ($pair in $doc.keys_at) {
    if (same_text $pair.path $full) {
      if (-not (same_text ($doc.text.Substring($pair.from, $pair.till - $pair.from)) $json)) {
        put_text $pair.from $pair.till $json
      }
      return
    }
  }
  $here = $null
  foreach ($table in $doc.tables) {
    if ((same_text $table.path $full) -or (toml_is_below $table.path $full)) { refuse_text ($last + ' is a table') }
    if ($n -gt 1 -and (same_text $table.path $above)) { $here = $table }
  }
  foreach ($pair in $doc.keys_at) {
    $is_beside = $n -gt 1 -and $null -eq $here -and (toml_is_below $pair.path $above)
    if ($is_beside -or (toml_is_below $full $pair.path) -or (toml_is_below $pair.path $full)) {
      $what = $last
      if ($n -gt 1) { $what = $shown }
      refuse_text ($what + ' has a form that this command cannot change')
    }
  }
  $line = (toml_bare $last) + ' = ' + $json
  if ($n -eq 1 -and $doc.root_end -eq 0) {
    $gap = $doc.eol
    if ($doc.text.Length -gt 0) { $gap += $doc.eol }
    put_text 0 0 ($line + $gap)
  } elseif ($n -eq 1 -or $null -ne $here) {
    $place = $doc.root_end
    if ($n -gt 1) { $place = $here.till }
    $new = $doc.eol + $line
    if ($place -ge $doc.text.Length) { $new += $doc.eol }
    if ((take_text ($place - 1) 2) -ceq ($cr + $lf)) { $place-- }
    put_text $place $place $new
  } else {
    if ($doc.text.Length -gt 0) {
      if (-not $doc.text.EndsWith($lf, [StringComparison]::Ordinal)) { $doc.text += $doc.eol }
      $doc.text += $doc.eol
    }
    $doc.text += '[' + $shown + ']' + $doc.eol + $line + $doc.eol
  }
}
# The tables below one with the same prefix, except those to keep.
function toml_drop($names, $kept) {
  $n = $names.Length
  $above = ''
  for ($i = 0; $i -lt $n - 1; $i++) { $above += $sep + $names[$i] }
  for ($i = $doc.tables.Count - 1; $i -ge 0; $i--) {
    $table = $doc.tables[$i]
    if (-not (toml_is_below $table.path $above)) { continue }
    $name = $table.path.Substring($above.Length + 1).Split($sep)[0]
    $is_kept = (' ' + $kept + ' ').Contains(' ' + $name + ' ')
    if ($name.StartsWith($names[$n - 1], [StringComparison]::Ordinal) -and -not $is_kept) {
      $start = $table.from
      $end = $table.till
      while ($start -gt 0 -and (match_at $doc.blanks ($start - 1)) -gt 0) { $start-- }
      if ($start -eq 0) { $end += match_at $doc.blanks $end }
      elseif ((take_text ($end - 1) 2) -ceq ($cr + $lf)) { $end-- }
      put_text $start $end ''
      if ($start -gt 0 -and $start -ge $doc.text.Length) { $doc.text += $doc.eol }
    }
  }
}
function edit_toml($operations) {
  $doc.comments = [regex]'\G[^\r\n]+'
  $doc.bare = [regex]'\G[A-Za-z0-9_-]+'
  $doc.words = [regex]'\G[-+A-Za-z0-9_.:]+'
  $doc.times = [regex]'\G [0-9][0-9]:[-+A-Za-z0-9_.:]+'
  find_eol
  foreach ($operation in $operations) {
    toml_parse
    $verb = $operation.Substring(0, $operation.IndexOf(' ', [StringComparison]::Ordinal))
    $mark = ' = '
    if ($verb -ceq 'drop') { $mark = ' except' }
    $place = $operation.IndexOf($mark, [StringComparison]::Ordinal)
    $names = [regex]::Split($operation.Substring($verb.Length + 1, $place - $verb.Length - 1), ' > ')
    $rest = $operation.Substring($place + $mark.Length)
    if ($verb -ceq 'drop') { toml_drop $names $rest } else { toml_set $names $rest }
  }
}`;
