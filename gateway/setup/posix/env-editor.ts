/** Edits a file of `NAME=value` lines. Other lines keep their bytes. Of duplicate names, one remains. */
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
