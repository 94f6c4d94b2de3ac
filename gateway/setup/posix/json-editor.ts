/** Unchanged parts keep their bytes. Patterns contain no `{n}`, which older versions of mawk do not support. */
export const jsonEditor = String.raw`
# The start and end of every value, by path, and the members of each object or array, by number.
function parse() {
  if (text == parsed) return
  parsed = text
  split("", from); split("", till); split("", kind); split("", count); split("", child)
  split("", begin); split("", comma)
  at = 1
  value("", 0)
  skip()
  if (at <= length(text)) broken()
}
function broken(  lines) { fail("line " split(substr(text, 1, at), lines, "\n") " is not valid JSON") }
function char() { return substr(text, at, 1) }
function skip(  c, end) {
  for (;;) {
    c = char()
    if (c == " " || c == "\n" || c == "\t" || c == "\r") {
      match(substr(text, at, 200), /^[ \t\r\n]+/)
      at += RLENGTH
    } else if (lenient && c == "/" && substr(text, at + 1, 1) == "/") {
      end = index(substr(text, at), "\n")
      at = end ? at + end : length(text) + 1
    } else if (lenient && c == "/" && substr(text, at + 1, 1) == "*") {
      end = index(substr(text, at + 2), "*/")
      if (end == 0) broken()
      at += end + 3
    } else return
  }
}
function string(  c, start) {
  if (char() != "\"") broken()
  start = ++at
  for (;;) {
    # Skips ahead, because some awks are slow with single characters of a long text.
    while (match(substr(text, at, 200), /^[^"\\[:cntrl:]]+/)) at += RLENGTH
    c = char()
    if (c == "\"") break
    if (c != "\\" && c != "\177") broken()
    if (c == "\\") {
      at++
      if (substr(text, at, 5) !~ /^(["\\\/bfnrt]|u[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F])/) broken()
    }
    at++
  }
  return substr(text, start, at++ - start)
}
function value(path, depth,  c, close_, n, name, below) {
  if (depth > 64) fail("it is nested too deeply")
  skip()
  from[path] = at
  kind[path] = c = char()
  if (c == "{" || c == "[") {
    close_ = c == "{" ? "}" : "]"
    at++
    skip()
    for (n = 0; char() != close_; n++) {
      begin[path, n] = at
      name = n
      if (c == "{") {
        name = string()
        if (name ~ /\\u00[2-7]/) fail("the name " name " contains escapes")
        skip()
        if (char() != ":") broken()
        at++
      }
      below = path SUBSEP name
      if (below in from) fail("it contains the name \"" name "\" twice in one object")
      value(below, depth + 1)
      child[path, n] = below
      skip()
      if (char() == ",") {
        comma[path, n] = at++
        skip()
        if (char() == close_ && lenient == 0) broken()
      } else if (char() != close_) broken()
    }
    count[path] = n
    at++
  } else if (c == "\"") string()
  else {
    if (match(substr(text, at, 400), /^(true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?)/) == 0) broken()
    at += RLENGTH
  }
  till[path] = at
}
# Removes spaces and comments, for comparisons.
function compact(path,  n, all) {
  if (kind[path] != "{" && kind[path] != "[") return substr(text, from[path], till[path] - from[path])
  for (n = 0; n < count[path]; n++) {
    all = all (n ? "," : "")
    if (kind[path] == "{") all = all "\"" substr(child[path, n], length(path) + 2) "\":"
    all = all compact(child[path, n])
  }
  return kind[path] all (kind[path] == "{" ? "}" : "]")
}
# Breaks compact JSON into lines, unless the file has only one line.
function pretty(json, indent,  i, c, out, quoted) {
  if (is_inline) return json
  for (i = 1; i <= length(json); i++) {
    c = substr(json, i, 1)
    if (c == "\"") quoted = 1 - quoted
    if (quoted) out = out c
    else if (c == "{" || c == "[") {
      if (substr(json, i + 1, 1) ~ /[]}]/) { out = out c substr(json, ++i, 1); continue }
      indent = indent unit
      out = out c eol indent
    } else if (c == "}" || c == "]") {
      indent = substr(indent, 1, length(indent) - length(unit))
      out = out eol indent c
    } else out = out c (c == "," ? eol indent : c == ":" ? " " : "")
  }
  return out
}
function put(start, end, new) { text = substr(text, 1, start - 1) new substr(text, end) }
# The first position on the line, and its indentation.
function line_of(place) { while (place > 1 && substr(text, place - 1, 1) != "\n") place--; return place }
function lead(place) {
  match(substr(text, line_of(place), 400), /^[ \t]*/)
  return substr(text, line_of(place), RLENGTH)
}
function is_first(place) { return line_of(place) + length(lead(place)) == place }
function style(  first) {
  eol = index(text, "\r\n") ? "\r\n" : "\n"
  is_inline = count[""] > 0 && index(substr(text, from[""], till[""] - from[""]), "\n") == 0
  first = begin["", 0]
  unit = count[""] > 0 && is_first(first) ? lead(first) : "  "
}
function replace(path, json) { put(from[path], till[path], pretty(json, lead(from[path]))) }
function insert(path, name, json,  n, last, indent, place, inner) {
  if (kind[path] == "{") name = "\"" name "\":" (is_inline ? "" : " ")
  n = count[path]
  if (n == 0) {
    indent = lead(from[path])
    inner = substr(text, from[path] + 1, till[path] - from[path] - 2)
    if (inner ~ /^[ \t\r\n]*$/) inner = is_inline ? "" : eol indent
    else if (is_inline == 0 && index(inner, "\n") == 0) inner = inner eol indent
    json = is_inline ? name json : eol indent unit name pretty(json, indent unit)
    put(from[path] + 1, till[path] - 1, json inner)
    return
  }
  last = child[path, n - 1]
  place = till[last]
  if (is_first(begin[path, n - 1]) == 0) {
    put(place, place, (is_inline ? "," : ", ") name json)
    return
  }
  indent = lead(begin[path, n - 1])
  json = eol indent name pretty(json, indent)
  at = comma[path, n - 1] ? comma[path, n - 1] + 1 : place
  end_of_line()
  put(at, at, json (comma[path, n - 1] ? "," : ""))
  if (comma[path, n - 1] == "") put(place, place, ",")
}
# The position after a comment that belongs to the previous value.
function end_of_line() {
  if (lenient && match(substr(text, at, 400), /^[ \t]*(\/\/[^\r\n]*|\/\*[^*\r\n]*\*\/)/)) at += RLENGTH
}
function remove(path, n,  start, end, gap) {
  start = begin[path, n]
  end = till[child[path, n]]
  if (comma[path, n]) end = comma[path, n] + 1
  if (is_first(start)) {
    start = line_of(start)
    if (substr(text, start - 1, 1) == "\n") start--
    if (substr(text, start - 1, 1) == "\r") start--
  } else {
    gap = match(substr(text, end, 400), /^[ \t]+/) ? RLENGTH : 0
    if (comma[path, n]) end += gap
  }
  put(start, end, "")
  if (comma[path, n] == "" && n > 0) put(comma[path, n - 1], comma[path, n - 1] + 1, "")
}
function named(names, n,  i, all) {
  for (i = 1; i <= n; i++) all = all (i > 1 ? " > " : "") names[i]
  return all
}
# The number of existing names on the path. found is the last existing path.
function follow(names, n,  i) {
  found = ""
  for (i = 1; i <= n; i++) {
    if (compact(found) == "null") return i - 1
    if (kind[found] != "{") fail((i > 1 ? named(names, i - 1) : "its content") " is not an object")
    if (((found SUBSEP names[i]) in from) == 0) return i - 1
    found = found SUBSEP names[i]
  }
  return n
}
function set(names, n, json, is_default,  known, i) {
  known = follow(names, n)
  if (known == n && (is_default || compact(found) == json)) return
  for (i = n; i > known + (kind[found] == "{"); i--) json = "{\"" names[i] "\":" json "}"
  if (known == n || kind[found] != "{") replace(found, json)
  else insert(found, names[known + 1], json)
}
function take_out(names, n,  i, path) {
  if (follow(names, n) < n) return
  path = found
  follow(names, n - 1)
  for (i = 0; i < count[found]; i++) if (child[found, i] == path) { remove(found, i); return }
}
# Replaces the entries with the same member by compact entries of the setup.
function replace_entries(names, n, member, json,  i, path, old, entries, all, whole) {
  if (follow(names, n) < n || compact(found) == "null") { set(names, n, json); return }
  if (kind[path = found] != "[") fail(named(names, n) " is not a list")
  whole = text; text = json; parse()
  all = count[""]
  for (i = 0; i < all; i++) entries[i] = compact(child["", i])
  text = whole; parse()
  for (i = 0; i < count[path]; i++) if (is_ours(child[path, i], member)) old = old "," compact(child[path, i])
  if (substr(old, 2) == substr(json, 2, length(json) - 2)) return
  for (i = 0; i < count[path]; i++) if (is_ours(child[path, i], member)) { remove(path, i); parse(); i = -1 }
  for (i = 0; i < all; i++) { insert(path, "", entries[i]); parse() }
}
function is_ours(path, member) {
  return ((path SUBSEP member[1]) in from) && compact(path SUBSEP member[1]) == member[2]
}
BEGIN {
  read_text()
  if (text ~ /^[ \t\r\n]*$/) text = "{}\n"
  parse()
  if (kind[""] != "{") fail("its content is not an object")
  while (next_operation()) {
    line = operation
    parse()
    style()
    verb = substr(line, 1, index(line, " ") - 1)
    place = index(line, " = ")
    json = place ? substr(line, place + 3) : ""
    line = substr(line, length(verb) + 2, (place ? place : length(line) + 1) - length(verb) - 2)
    if (split(line, where, " where ") == 2) split(where[2], member, " is ")
    n = split(where[1], names, " > ")
    if (verb == "remove") take_out(names, n)
    else if (verb == "entries") replace_entries(names, n, member, json)
    else set(names, n, json, verb == "default")
  }
  printf "%s", bom text
}`;
