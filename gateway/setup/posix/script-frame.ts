/** The start and the end of the script, which always removes its work folder. */
export const scriptFrame = String.raw`
say() { printf '%s\n' "$1"; }
complain() { printf '%s\n' "$1" >&2; }
stop() { complain "$1"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }
quote() { printf "'%s'" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")"; }
start() {
  umask 077
  LC_ALL=C
  export LC_ALL
  case $HOME in /*) ;; *) stop "HOME is not set. Set it to your home folder." ;; esac
  have awk || stop "awk is missing. Install it."
  origin=$PWD number=0 refused= failed= unverified=
  undo=$HOME/.config/model-gateway/undo-$tool.sh
  newline='
'
  work=$(mktemp -d) || stop "A temporary folder could not be created."
  trap clean_up EXIT
  trap 'exit 130' HUP INT TERM
  cd "$work" || exit 1
  write_editors
}
clean_up() { cd / && rm -rf "$work"; }
look_for() { # program, how to install it
  have "$1" || complain "$1 is not installed. Its setup applies after the installation: $2"
}
find_profile() {
  shell=$(basename "$SHELL")
  profile=$HOME/.profile
  case $shell in
    zsh) profile=$ZDOTDIR
      [ -n "$profile" ] || profile=$HOME
      profile=$profile/.zshrc ;;
    fish) profile=$XDG_CONFIG_HOME
      [ -n "$profile" ] || profile=$HOME/.config
      profile=$profile/fish/config.fish ;;
    bash) profile=$HOME/.bashrc
      # On macOS, every terminal starts a login shell, which reads the first of these files.
      if [ "$(uname)" = Darwin ]; then
        for profile in "$HOME/.bash_profile" "$HOME/.bash_login" "$HOME/.profile" "$HOME/.bash_profile"; do
          if [ -e "$profile" ]; then break; fi
        done
      fi ;;
  esac
}
finish() { # what to do next
  say "$1"
  if [ -e "$undo" ]; then say "To undo this: sh ~/.config/model-gateway/undo-$tool.sh"; fi
  if [ -n "$failed" ]; then exit 1; fi
}`;
