/**
 * The frame of all editors: the file as `text`, its byte order mark as `bom`, and `fail`. Input ends with an
 * x, because awk cannot see a final line end. See "Editors" in README.md.
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
