/** Edits the text itself, because ConvertFrom-Json and ConvertTo-Json would lose formatting and comments. */
export const jsonEditor = String.raw`
# The position of every value, by path, and the members of each object or array, by number.
function json_parse {
  if (same_text $doc.parsed $doc.text) { return }
  $doc.parsed = $doc.text
  $doc.from_at = New-Object Collections.Hashtable
  $doc.till_at = New-Object Collections.Hashtable
  $doc.kinds = New-Object Collections.Hashtable
  $doc.sizes = New-Object Collections.Hashtable
  $doc.children = New-Object Collections.Hashtable
  $doc.begins = New-Object Collections.Hashtable
  $doc.commas = New-Object Collections.Hashtable
  $doc.at = 0
  json_value '' 0
  json_skip
  if ($doc.at -lt $doc.text.Length) { json_broken }
}
function json_broken { refuse_text ('line ' + (line_number) + ' is not valid JSON') }
function json_skip {
  while ($true) {
    $doc.at += match_at $doc.blanks $doc.at
    $two = take_text $doc.at 2
    if ($doc.lenient -and $two -ceq '//') {
      $end = $doc.text.IndexOf([char]10, $doc.at)
      if ($end -lt 0) { $doc.at = $doc.text.Length } else { $doc.at = $end + 1 }
    } elseif ($doc.lenient -and $two -ceq '/*') {
      $end = $doc.text.IndexOf('*/', $doc.at + 2, [StringComparison]::Ordinal)
      if ($end -lt 0) { json_broken }
      $doc.at = $end + 2
    } else { return }
  }
}
function json_string {
  if ((take_text $doc.at 1) -cne '"') { json_broken }
  $start = $doc.at + 1
  $doc.at = $start + (match_at $doc.letters $start)
  $next = take_text $doc.at 1
  if ($next -ceq '\') { $doc.at++ }
  if ($next -cne '"') { json_broken }
  $doc.at++
  return $doc.text.Substring($start, $doc.at - 1 - $start)
}
function json_value($path, $depth) {
  if ($depth -gt 64) { refuse_text 'it is nested too deeply' }
  json_skip
  $kind = take_text $doc.at 1
  $doc.from_at[$path] = $doc.at
  $doc.kinds[$path] = $kind
  if ($kind -ceq '{' -or $kind -ceq '[') {
    $close = '}'
    if ($kind -ceq '[') { $close = ']' }
    $doc.at++
    json_skip
    $n = 0
    while ((take_text $doc.at 1) -cne $close) {
      $member = $path + $sep + $n
      $doc.begins[$member] = $doc.at
      $below = $member
      if ($kind -ceq '{') {
        $name = json_string
        if ($name -cmatch '\\u00[2-7]') { refuse_text ('the name ' + $name + ' contains escapes') }
        json_skip
        if ((take_text $doc.at 1) -cne ':') { json_broken }
        $doc.at++
        $below = $path + $sep + $name
        if ($null -ne $doc.kinds[$below]) { refuse_text ('it contains the name "' + $name + '" twice in one object') }
      }
      json_value $below ($depth + 1)
      $doc.children[$member] = $below
      json_skip
      $next = take_text $doc.at 1
      if ($next -ceq ',') {
        $doc.commas[$member] = $doc.at
        $doc.at++
        json_skip
        if ((take_text $doc.at 1) -ceq $close -and -not $doc.lenient) { json_broken }
      } elseif ($next -cne $close) { json_broken }
      $n++
    }
    $doc.sizes[$path] = $n
    $doc.at++
  } elseif ($kind -ceq '"') { [void](json_string) }
  else {
    $length = match_at $doc.words $doc.at
    if ($length -eq 0) { json_broken }
    $doc.at += $length
  }
  $doc.till_at[$path] = $doc.at
}
# Removes spaces and comments, for comparisons.
function json_compact($path) {
  $kind = $doc.kinds[$path]
  $start = $doc.from_at[$path]
  if ($kind -cne '{' -and $kind -cne '[') { return $doc.text.Substring($start, $doc.till_at[$path] - $start) }
  $all = ''
  for ($n = 0; $n -lt $doc.sizes[$path]; $n++) {
    $below = $doc.children[$path + $sep + $n]
    if ($n -gt 0) { $all += ',' }
    if ($kind -ceq '{') { $all += '"' + $below.Substring($path.Length + 1) + '":' }
    $all += json_compact $below
  }
  if ($kind -ceq '{') { return '{' + $all + '}' }
  return '[' + $all + ']'
}
# Breaks compact JSON into lines, unless the file has only one line.
function json_pretty($json, $indent) {
  if ($doc.is_inline) { return $json }
  $out = ''
  $quoted = $false
  for ($i = 0; $i -lt $json.Length; $i++) {
    $char = $json.Substring($i, 1)
    if ($char -ceq '"') { $quoted = -not $quoted }
    if ($quoted) { $out += $char }
    elseif ($char -ceq '{' -or $char -ceq '[') {
      $next = $json.Substring($i + 1, 1)
      if ($next -ceq '}' -or $next -ceq ']') {
        $out += $char + $next
        $i++
      } else {
        $indent += $doc.unit
        $out += $char + $doc.eol + $indent
      }
    } elseif ($char -ceq '}' -or $char -ceq ']') {
      $indent = $indent.Substring(0, $indent.Length - $doc.unit.Length)
      $out += $doc.eol + $indent + $char
    } elseif ($char -ceq ',') { $out += $char + $doc.eol + $indent }
    elseif ($char -ceq ':') { $out += ': ' }
    else { $out += $char }
  }
  return $out
}
# The first position on the line, and its indentation.
function json_line_of($place) {
  if ($place -eq 0) { return 0 }
  return $doc.text.LastIndexOf([char]10, $place - 1) + 1
}
function json_lead($place) {
  $start = json_line_of $place
  return take_text $start (match_at $doc.lead $start)
}
function json_is_first($place) { return (json_line_of $place) + (json_lead $place).Length -eq $place }
function json_style {
  find_eol
  $start = $doc.from_at['']
  $doc.is_inline = $doc.sizes[''] -gt 0 -and $doc.text.IndexOf([char]10, $start, $doc.till_at[''] - $start) -lt 0
  $doc.unit = '  '
  if ($doc.sizes[''] -gt 0) {
    $first = $doc.begins[$sep + '0']
    if (json_is_first $first) { $doc.unit = json_lead $first }
  }
}
function json_replace($path, $json) {
  $start = $doc.from_at[$path]
  put_text $start ($doc.till_at[$path]) (json_pretty $json (json_lead $start))
}
function json_insert($path, $name, $json) {
  $start = $doc.from_at[$path]
  if ($doc.kinds[$path] -ceq '{') {
    $name = '"' + $name + '":'
    if (-not $doc.is_inline) { $name += ' ' }
  }
  $n = $doc.sizes[$path]
  if ($n -eq 0) {
    $indent = json_lead $start
    $inner = $doc.text.Substring($start + 1, $doc.till_at[$path] - $start - 2)
    $new = $name + $json
    if (-not $doc.is_inline) {
      $new = $doc.eol + $indent + $doc.unit + $name + (json_pretty $json ($indent + $doc.unit))
    }
    if ($inner -cmatch '^[ \t\r\n]*$') {
      $inner = ''
      if (-not $doc.is_inline) { $inner = $doc.eol + $indent }
    } elseif (-not $doc.is_inline -and $inner.IndexOf([char]10) -lt 0) { $inner += $doc.eol + $indent }
    put_text ($start + 1) ($doc.till_at[$path] - 1) ($new + $inner)
    return
  }
  $member = $path + $sep + ($n - 1)
  $place = $doc.till_at[$doc.children[$member]]
  if (-not (json_is_first ($doc.begins[$member]))) {
    $comma = ', '
    if ($doc.is_inline) { $comma = ',' }
    put_text $place $place ($comma + $name + $json)
    return
  }
  $indent = json_lead ($doc.begins[$member])
  $new = $doc.eol + $indent + $name + (json_pretty $json $indent)
  $doc.at = $place
  if ($null -ne $doc.commas[$member]) {
    $doc.at = $doc.commas[$member] + 1
    $new += ','
  }
  json_end_of_line
  put_text $doc.at $doc.at $new
  if ($null -eq $doc.commas[$member]) { put_text $place $place ',' }
}
# The position after a comment that belongs to the previous value.
function json_end_of_line { if ($doc.lenient) { $doc.at += match_at $doc.comments $doc.at } }`;
