/** Merges into copies. Writes no file before all are valid. */
export const mergeFiles = String.raw`
# merge <format> <file> [<preferred file>], with the operations on the standard input
merge() {
  number=$((number + 1))
  cat >"$number.operations"
  if [ "$1" = profile ]; then eval "is_shared_$number=1"; fi
  if [ -n "$3" ] && [ -e "$3" ]; then find_target "$3"; else find_target "$2"; fi
  if [ -n "$why" ]; then refuse "$1"; return; fi
  old=$target
  [ -e "$old" ] || old=/dev/null
  edit "$1" "$old" || { why=$(cat why); refuse "$1"; }
}
edit() {
  lenient=0
  editor=$1
  if [ "$1" = jsonc ]; then lenient=1 editor=json; fi
  { cat "$2"; printf x; } |
    awk -v operations="$number.operations" -v lenient="$lenient" -f "$editor.awk" >"$number.new" 2>why
}
# own <file> [<file to use if that one belongs to the user>], with the text on the standard input
own() {
  number=$((number + 1))
  cat >"$number.operations"
  find_target "$1"
  if [ -z "$why" ] && is_foreign && [ -n "$2" ]; then find_target "$2"; fi
  if [ -z "$why" ] && is_foreign; then why="it exists and does not belong to this setup"; fi
  if [ -n "$why" ]; then refuse own; return; fi
  edit own /dev/null
}
is_foreign() { [ -e "$target" ] && [ "$(head -n 1 "$target")" != "$(head -n 1 "$number.operations")" ]; }
# Sets target, the end of all symbolic links, and why, the reason against writing it.
find_target() {
  target=$1
  why=
  case $target in /*) ;; *) target=$origin/$target ;; esac
  links=0
  while [ -L "$target" ] && [ "$links" -lt 20 ]; do
    link=$(readlink "$target")
    case $link in /*) target=$link ;; *) target=$(dirname "$target")/$link ;; esac
    links=$((links + 1))
  done
  case $target in *"$newline"*) why="its path contains a line break" ;; esac
  eval "target_$number=\$target"
  if [ -L "$target" ]; then why="its symbolic link is broken"
  elif [ -d "$target" ]; then why="it is a folder"
  elif [ -e "$target" ]; then
    if [ ! -f "$target" ]; then why="it is not a file"
    elif [ ! -r "$target" ]; then why="it cannot be read"
    elif [ -z "$(find "$target" -perm -200)" ] || [ ! -w "$target" ]; then why="it is read-only"; fi
  fi
}
refuse() {
  refused=1
  complain "$target was not changed: $why."
  (GATEWAY_API_KEY='<your API key>' && export GATEWAY_API_KEY && edit "$1" /dev/null) || return
  complain "To change it manually, merge this into it:"
  cat "$number.new" >&2
}`;
