/** https://toml.io/en/v1.0.0 */
export const tomlEditor = String.raw`
# Every key with its path and the position of its value, and every table's header.
function parse() {
  if (is_parsed) return
  is_parsed = 1
  split("", is_list)
  keys = tables = root_end = 0
  double = ""
  at = 1
  table = ""
  for (skip(1); at <= length(text); skip(1)) {
    line_start = at
    if (char() == "[") header()
    else pair()
    skip(0)
    if (substr(text, at, 1) == "\r") at++
    if (at <= length(text) && char() != "\n") broken()
    if (table == "") root_end = at
    table_end[tables] = at
  }
}
function broken(  lines) { fail("line " split(substr(text, 1, at), lines, "\n") " is not valid TOML") }
function char() { return substr(text, at, 1) }
function leap(pattern) {
  if (match(substr(text, at, 400), pattern) == 0) return 0
  at += RLENGTH
  return 1
}
# Skips spaces and a comment, over several lines if is_far.
function skip(is_far) {
  for (;;) {
    while (leap(is_far ? "^[ \t\r\n]+" : "^[ \t]+"));
    if (char() != "#") return
    while (leap("^[^\r\n]+"));
    if (is_far == 0) return
  }
}
function header(  path) {
  at++
  double = char() == "["
  if (double) at++
  path = key_path("")
  if (char() != "]") broken()
  at++
  if (double) { if (char() != "]") broken(); at++; is_list[path] = 1; path = path SUBSEP "[]" }
  table = path
  table_path[++tables] = path
  table_start[tables] = line_start
}
function pair(  path) {
  path = key_path(table)
  if (char() != "=") broken()
  at++
  skip(0)
  key_at[++keys] = path
  value_from[keys] = at
  value()
  value_till[keys] = at
}
function key_path(path,  start) {
  for (;;) {
    skip(0)
    start = at
    if (char() == "\"" || char() == "'") {
      quoted(char())
      path = path SUBSEP substr(text, start + 1, at - start - 2)
    } else {
      if (leap("^[A-Za-z0-9_-]+") == 0) broken()
      path = path SUBSEP substr(text, start, at - start)
    }
    skip(0)
    if (char() != ".") return path
    at++
  }
}
function quoted(mark,  c) {
  for (at++; (c = char()) != mark; at++) {
    if (c == "" || c == "\n") broken()
    if (c == "\\" && mark == "\"") at++
  }
  at++
}
function value(  c, three) {
  c = char()
  three = substr(text, at, 3)
  if (three == "\"\"\"" || three == "'''") {
    for (at += 3; substr(text, at, 3) != three; at++) {
      if (at > length(text)) broken()
      if (char() == "\\" && c == "\"") at++
    }
    # One or two quotes may precede the three that end the string.
    for (at += 3; char() == c; at++);
  } else if (c == "\"" || c == "'") quoted(c)
  else if (c == "[" || c == "{") {
    at++
    for (skip(1); char() != "]" && char() != "}"; skip(1)) {
      if (at > length(text)) broken()
      if (char() ~ /["'[{]/) value()
      else at++
    }
    at++
  } else if (leap("^[-+A-Za-z0-9_.:]+") == 0) broken()
  else leap("^ [0-9][0-9]:[-+A-Za-z0-9_.:]+")
}
function put(start, end, new) { is_parsed = 0; text = substr(text, 1, start - 1) new substr(text, end) }
# Appends at the end, so that other positions stay valid and the file is parsed only once.
function append(full, start, json) {
  text = text start " = " json eol
  key_at[++keys] = full
  value_till[keys] = length(text) - length(eol) + 1
  value_from[keys] = value_till[keys] - length(json)
  table_end[tables] = length(text)
}
function is_below(path, above) { return substr(path, 1, length(above) + 1) == above SUBSEP }
function bare(name) { return name ~ /^[A-Za-z0-9_-]+$/ ? name : "\"" name "\"" }
function set(names, n, json,  i, full, above, shown, here) {
  for (i = 1; i <= n; i++) {
    if (i < n) { above = above SUBSEP names[i]; shown = shown (i > 1 ? "." : "") bare(names[i]) }
    full = full SUBSEP names[i]
    if (i < n && (above in is_list)) fail(shown " is a list of tables")
  }
  for (i = 1; i <= keys; i++) if (key_at[i] == full) {
    if (substr(text, value_from[i], value_till[i] - value_from[i]) != json) put(value_from[i], value_till[i], json)
    return
  }
  for (i = 1; i <= tables; i++) if (table_path[i] == full || is_below(table_path[i], full)) fail(names[n] " is a table")
  here = n == 1 ? 0 : -1
  for (i = 1; i <= tables; i++) if (n > 1 && table_path[i] == above) here = i
  for (i = 1; i <= keys; i++)
    if (is_below(full, key_at[i]) || is_below(key_at[i], full) || here < 0 && is_below(key_at[i], above))
      fail((n > 1 ? shown : names[n]) " has a form that this command cannot change")
  if (here < 0) {
    table_path[++tables] = above
    if (text != "") text = text (substr(text, length(text)) == "\n" ? "" : eol) eol
    table_start[tables] = length(text) + 1
    append(full, "[" shown "]" eol bare(names[n]), json)
    return
  }
  if (here > 0 && here == tables && table_end[here] == length(text) && substr(text, length(text)) == "\n") {
    append(full, bare(names[n]), json)
    return
  }
  json = bare(names[n]) " = " json
  if (here == 0 && root_end == 0) put(1, 1, json eol (text == "" ? "" : eol))
  else {
    i = here == 0 ? root_end : table_end[here]
    if (substr(text, i - 1, 2) == "\r\n") i--
    put(i, i, eol json (i > length(text) ? eol : ""))
  }
}
# The tables below one with the same prefix, except those to keep.
function drop(names, n, kept,  i, k, above, name, start, end, before) {
  for (i = 1; i < n; i++) above = above SUBSEP names[i]
  for (i = tables; i > 0; i--) {
    if (is_below(table_path[i], above) == 0) continue
    name = substr(table_path[i], length(above) + 2)
    if (index(name, SUBSEP)) name = substr(name, 1, index(name, SUBSEP) - 1)
    if (index(name, names[n]) == 1 && index(" " kept " ", " " name " ") == 0) {
      start = table_start[i]
      while (start > 1 && index(" \t\r\n", substr(text, start - 1, 1))) start--
      end = table_end[i]
      if (start == 1) while (end <= length(text) && index(" \t\r\n", substr(text, end, 1))) end++
      else if (substr(text, end - 1, 2) == "\r\n") end--
      put(start, end, "")
      if (start > 1 && start > length(text)) text = text eol
    }
  }
}
BEGIN {
  read_text()
  eol = index(text, "\r\n") ? "\r\n" : "\n"
  while (next_operation()) {
    line = operation
    parse()
    verb = substr(line, 1, index(line, " ") - 1)
    line = substr(line, length(verb) + 2)
    mark = verb == "drop" ? " except" : " = "
    place = index(line, mark)
    n = split(substr(line, 1, place - 1), names, " > ")
    line = substr(line, place + length(mark))
    if (verb == "drop") drop(names, n, line)
    else set(names, n, line)
  }
  printf "%s", bom text
}`;
