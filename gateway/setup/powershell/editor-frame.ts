/**
 * Each character of `$doc.text` is one byte of the file, so unchanged parts keep their bytes. `same_text`
 * compares texts exactly, because `-ceq` ignores some characters.
 */
export const editorFrame = String.raw`
function edit_text($format, $text, $operations, $key) {
  $doc = @{ text = $text; at = 0; lenient = ($format -ceq 'jsonc'); eol = $lf }
  $doc.blanks = [regex]'\G[ \t\r\n]+'
  $doc.lead = [regex]'\G[ \t]+'
  $bom = ''
  if ($text.Length -gt 262143) { refuse_text 'it is larger than 256 KB' }
  if ($text.StartsWith($byte_order_mark, [StringComparison]::Ordinal)) {
    $bom = $byte_order_mark
    $doc.text = $text.Substring(3)
  }
  if ($format -ceq 'own') {
    $doc.text = [string]::Join($lf, [string[]]$operations).Replace('{{GATEWAY_API_KEY}}', $key) + $lf
    return $doc.text
  }
  $lines = @(join_operations $operations $key)
  if ($format -ceq 'json' -or $format -ceq 'jsonc') { edit_json $lines }
  elseif ($format -ceq 'toml') { edit_toml $lines }
  else { edit_env $lines }
  return $bom + $doc.text
}
# Inserts the key. A line that starts with a space continues the previous one.
function join_operations($operations, $key) {
  $lines = New-Object 'Collections.Generic.List[string]'
  foreach ($operation in $operations) {
    $line = $operation.Replace('{{GATEWAY_API_KEY}}', $key)
    if ($lines.Count -gt 0 -and $line.StartsWith(' ', [StringComparison]::Ordinal)) {
      $lines[$lines.Count - 1] = $lines[$lines.Count - 1] + $line.Substring(1)
    } else { $lines.Add($line) }
  }
  return $lines.ToArray()
}
function same_text($one, $other) { return [string]::Equals($one, $other, [StringComparison]::Ordinal) }
function refuse_text($why) { throw ('refused: ' + $why) }
function take_text($place, $length) {
  $rest = $doc.text.Length - $place
  if ($place -lt 0 -or $rest -le 0) { return '' }
  return $doc.text.Substring($place, [Math]::Min($length, $rest))
}
function put_text($start, $end, $new) {
  $doc.text = $doc.text.Substring(0, $start) + $new + $doc.text.Substring($end)
}
function find_eol {
  $doc.eol = $lf
  if ($doc.text.Contains($cr + $lf)) { $doc.eol = $cr + $lf }
}
# The length of the pattern's match at the position.
function match_at($pattern, $place) {
  if ($place -gt $doc.text.Length) { return 0 }
  return $pattern.Match($doc.text, $place).Length
}`;

export const editorConstants = `
  $lf = [string][char]10
  $cr = [string][char]13
  $sep = [string][char]28
  $apostrophe = [string][char]39
  $byte_order_mark = [string][char]239 + [char]187 + [char]191`.trim();

export const envEditor = String.raw`
function edit_env($operations) {
  find_eol
  foreach ($operation in $operations) {
    $line = $operation.Substring(4)
    $name = $line.Substring(0, $line.IndexOf(' = ', [StringComparison]::Ordinal))
    $line = $name + '=' + $line.Substring($name.Length + 3)
    $pattern = '^[ \t]*(export[ \t]+)?' + $name + '[ \t]*='
    $lines = $doc.text.Split([char]10)
    $n = $lines.Length
    $is_ended = $lines[$n - 1].Length -eq 0
    if ($is_ended) { $n-- }
    $last = -1
    for ($i = 0; $i -lt $n; $i++) { if ($lines[$i] -cmatch $pattern) { $last = $i } }
    $out = ''
    for ($i = 0; $i -lt $n; $i++) {
      if ($i -eq $last) { $out += $line + $doc.eol }
      elseif ($last -lt 0 -or $lines[$i] -cnotmatch $pattern) {
        $out += $lines[$i]
        if ($i -lt $n - 1 -or $is_ended) { $out += $lf } else { $out += $doc.eol }
      }
    }
    if ($last -lt 0) { $out += $line + $doc.eol }
    $doc.text = $out
  }
}`;
