/** Maintains one marked block in a file of lines. The operations are the block with its marks. */
export const profileEditor = String.raw`
BEGIN {
  read_text()
  eol = index(text, "\r\n") ? "\r\n" : "\n"
  while ((getline line < operations) > 0) {
    if (block == "") first = line
    block = block line eol
    last = line
  }
  start = index("\n" text, "\n" first)
  if (start) {
    rest = substr(text, start)
    end = index(rest, last)
    if (end == 0) fail("its block of an older setup has no end")
    end += length(last)
    while (index("\r\n", substr(rest, end, 1)) && end <= length(rest) && substr(rest, end - 1, 1) != "\n") end++
    text = substr(text, 1, start - 1) block substr(rest, end)
  } else {
    if (text != "" && substr(text, length(text)) != "\n") text = text eol
    text = text block
  }
  printf "%s", bom text
}`;
