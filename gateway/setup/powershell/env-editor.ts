/** Edits a file of `NAME=value` lines, as the POSIX editor does. */
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
