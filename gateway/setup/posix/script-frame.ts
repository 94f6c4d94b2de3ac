/** The temporary folder can contain the key, so a trap removes the folder on exit. */
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
  have awk || stop "The program awk is missing. Install awk."
  origin=$PWD number=0 refused= failed= unverified=
  undo=$HOME/.config/model-gateway/undo-$tool.sh
  newline='
'
  work=$(mktemp -d) || stop "mktemp could not create a temporary folder. Check TMPDIR."
  trap clean_up EXIT
  trap 'exit 130' HUP INT TERM
  cd "$work" || exit 1
  write_editors
}
clean_up() { cd / && rm -rf "$work"; }
look_for() { # program, how to install it
  have "$1" || complain "$1 is not installed. Install it to use this setup: $2"
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
}`;

/**
 * Prompts on `/dev/tty`, because standard input can be the script. Passes the key only to built-in commands,
 * because other users can see the arguments of programs.
 */
export const askForKey = String.raw`
ask_for_key() {
  if [ -n "$GATEWAY_API_KEY" ]; then
    key_source="The key in GATEWAY_API_KEY"
    say "Using the key in GATEWAY_API_KEY."
  elif (exec </dev/tty) 2>/dev/null; then
    key_source="The entered key"
    terminal=$(stty -g </dev/tty)
    trap 'stty "$terminal" </dev/tty; clean_up' EXIT
    stty -echo </dev/tty
    printf 'Gateway API key (hidden): ' >/dev/tty
    IFS= read -r GATEWAY_API_KEY </dev/tty
    stty "$terminal" </dev/tty
    trap clean_up EXIT
    printf '\n' >/dev/tty
    GATEWAY_API_KEY=$(printf '%s' "$GATEWAY_API_KEY" | tr -d '[:space:]')
  else
    stop "There is no terminal to prompt for the API key. Set the environment variable GATEWAY_API_KEY."
  fi
  export GATEWAY_API_KEY
  advice="Copy the key again, or create a new one in the console."
  case $GATEWAY_API_KEY in
    sk-gateway-*) ;;
    *) stop "$key_source does not start with sk-gateway-. $advice" ;;
  esac
  # Arithmetic removes the spaces that some programs print before a count.
  characters=$(($(printf '%s' "$GATEWAY_API_KEY" | wc -m)))
  how_many="it has $characters characters instead of 60. $advice"
  if [ "$characters" -lt 60 ]; then stop "$key_source is incomplete: $how_many"; fi
  if [ "$characters" -gt 60 ]; then stop "$key_source is too long: $how_many"; fi
  # Removing all other characters, line breaks included, must not shorten the key.
  if [ "$(printf '%s' "$GATEWAY_API_KEY" | tr -cd '0-9A-Za-z-' | wc -c)" -ne 60 ]; then
    stop "$key_source contains an invalid character: only letters and digits follow sk-gateway-. $advice"
  fi
}`;
