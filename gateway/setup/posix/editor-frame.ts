/**
 * Shared functions of all editors. The script appends an `x` to the input, because awk cannot detect whether
 * the last line ends with a line break.
 */
export const editorFrame = String.raw`
function fail(why) { print why > "/dev/stderr"; exit 3 }
function read_text(  line, is_later) {
  while ((getline line) > 0) {
    text = text (is_later ? "\n" : "") line
    is_later = 1
    if (length(text) > 262144) fail("it is larger than 256 KB")
  }
  text = substr(text, 1, length(text) - 1)
  if (substr(text, 1, 3) == "\357\273\277") { bom = substr(text, 1, 3); text = substr(text, 4) }
}
# Reads the next operation and inserts the key. A line that starts with a space continues the previous one.
function next_operation(  line) {
  operation = coming
  coming = ""
  while ((getline line < operations) > 0) {
    if (line !~ /^ /) { coming = line; if (operation != "") break; operation = line; coming = ""; continue }
    operation = operation substr(line, 2)
  }
  operation = fill_key(operation)
  return operation != ""
}
function fill_key(line,  at) {
  while ((at = index(line, "{{GATEWAY_API_KEY}}")) > 0)
    line = substr(line, 1, at - 1) ENVIRON["GATEWAY_API_KEY"] substr(line, at + 19)
  return line
}`;

/** Edits `NAME=value` lines. If several lines set the same name, only the last one remains. */
export const envEditor = String.raw`
BEGIN {
  read_text()
  eol = index(text, "\r\n") ? "\r\n" : "\n"
  while (next_operation()) {
    line = substr(operation, 5)
    name = substr(line, 1, index(line, " = ") - 1)
    line = name "=" substr(line, length(name) + 4)
    n = split(text, lines, "\n")
    if (lines[n] == "") n--
    last = 0
    for (i = 1; i <= n; i++) if (lines[i] ~ "^[ \t]*(export[ \t]+)?" name "[ \t]*=") last = i
    out = ""
    for (i = 1; i <= n; i++) {
      if (i == last) out = out line eol
      else if (last == 0 || lines[i] !~ "^[ \t]*(export[ \t]+)?" name "[ \t]*=")
        out = out lines[i] (i < n || substr(text, length(text)) == "\n" ? "\n" : eol)
    }
    if (last == 0) out = out line eol
    text = out
  }
  printf "%s", bom text
}`;

/** Inserts or replaces one marked block. The operations are the lines of the block, with its marks. */
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
    if (end == 0) fail("the end of an earlier setup is missing")
    end += length(last)
    while (index("\r\n", substr(rest, end, 1)) && end <= length(rest) && substr(rest, end - 1, 1) != "\n") end++
    text = substr(text, 1, start - 1) block substr(rest, end)
  } else {
    if (text != "" && substr(text, length(text)) != "\n") text = text eol
    text = text block
  }
  printf "%s", bom text
}`;

/** The operations are the lines of the whole file. */
export const ownEditor = String.raw`
BEGIN {
  while ((getline line < operations) > 0) print fill_key(line)
}`;
