/** The undo script also restores the previous undo script, so that earlier setups can be undone too. */
export const writeFiles = String.raw`
write_files() {
  if [ -n "$refused" ]; then stop "Nothing was changed. Correct the file, then repeat the command."; fi
  now=$(date +%Y%m%d%H%M%S)
  for list in moves put-back folders give-up shown; do : >"$list"; done
  i=0
  while [ "$i" -lt "$number" ]; do
    i=$((i + 1))
    eval "target=\$target_$i is_shared=\$is_shared_$i"
    if [ -f "$target" ] && cmp -s "$i.new" "$target"; then
      if [ -z "$is_shared" ]; then chmod 600 "$target"; fi
    else prepare "$i.new"; fi
  done
  if [ ! -s moves ]; then
    say "$tool_name: already set up. Nothing was changed."
    return
  fi
  write_undo
  . ./moves || stop "Some files could not be written. Undo the others with: sh $undo"
  say "$tool_name: set up for the gateway at $base_url."
  cat shown
}
# Writes the new file and a backup beside the old one. Others can read only a shell profile.
prepare() {
  make_folder "$(dirname "$target")"
  new=$target.new-$now
  printf 'rm -f %s\n' "$(quote "$new")" >>give-up
  backup=
  if [ -f "$target" ]; then
    backup=$(free_name "$target.bak-$now")
    printf 'rm -f %s\n' "$(quote "$backup")" >>give-up
    { cp -p "$target" "$backup" && cp -p "$target" "$new"; } || give_up
    if [ -z "$is_shared" ]; then chmod 600 "$backup" "$new" || give_up; fi
    printf '  changed %s\n    backup  %s\n' "$target" "$backup" >>shown
  else
    printf '  created %s\n' "$target" >>shown
  fi
  cat "$1" >"$new" || give_up
  printf 'mv -f %s %s || return 1\n' "$(quote "$new")" "$(quote "$target")" >>moves
  printf 'put_back %s %s %s\n' "$(quote "$target")" "$(quote "$backup")" "'$(cksum <"$1")'" >>put-back
}
make_folder() {
  if [ -d "$1" ]; then return; fi
  make_folder "$(dirname "$1")"
  mkdir "$1" || give_up
  printf 'rmdir %s 2>/dev/null\n' "$(quote "$1")" | cat - folders >more-folders
  mv more-folders folders
}
free_name() {
  if [ -e "$1" ]; then free_name "$1-2"; else printf '%s' "$1"; fi
}
give_up() {
  . ./give-up
  . ./folders
  stop "Nothing was changed, because a file could not be written. Check the error, then repeat the command."
}
write_undo() {
  make_folder "$(dirname "$undo")"
  before=
  if [ -f "$undo" ]; then
    before=$(free_name "$undo.bak-$now")
    cp "$undo" "$before" || give_up
  fi
  {
    printf '# Undoes the setup of %s of %s.\nnow=$(date +%%Y%%m%%d%%H%%M%%S)\nfailed=\n' "$tool_name" "$(date)"
    cat <<'UNDO'
put_back() {
  if [ -n "$2" ] && [ ! -f "$2" ]; then
    echo "$1 was not changed, because its backup $2 is missing. Remove the gateway settings from the file manually." >&2
    failed=1
    return
  fi
  if [ -f "$1" ] && [ "$(cksum <"$1")" != "$3" ]; then
    copy=$1.bak-$now
    while [ -e "$copy" ]; do copy=$copy-2; done
    cp -p "$1" "$copy" || { failed=1; return; }
    echo "$1 has changed since the setup. The changed version is saved as $copy."
  fi
  if [ -n "$2" ]; then mv -f "$2" "$1"; else rm -f "$1"; fi || { failed=1; return; }
  if [ -n "$2" ]; then echo "restored $1"; else echo "removed $1"; fi
}
UNDO
    cat put-back
    printf 'if [ -n "$failed" ]; then exit 1; fi\n'
    if [ -n "$before" ]; then printf 'mv -f %s %s\n' "$(quote "$before")" "$(quote "$undo")"
    else printf 'rm -f %s\n' "$(quote "$undo")"; fi
    cat folders
    printf 'exit 0\n'
  } >undo.new
  cat undo.new >"$undo" || give_up
  chmod 600 "$undo"
}`;

/** Merges into temporary files, so that a failed merge changes no file. */
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
