/**
 * Reads the key from the environment or prompts for it without echo. Reads from the terminal, because
 * standard input is the script. The key is on no command line, which other users could see.
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
    stop "No terminal to prompt for the API key. Set the environment variable GATEWAY_API_KEY."
  fi
  export GATEWAY_API_KEY
  case $GATEWAY_API_KEY in
    sk-gateway-*) ;;
    *) stop "$key_source is not a gateway key: those start with sk-gateway-. Nothing was changed." ;;
  esac
  # Arithmetic removes the spaces that some programs print before a count.
  characters=$(($(printf '%s' "$GATEWAY_API_KEY" | wc -m)))
  how_many="it has $characters characters instead of 60. Nothing was changed."
  if [ "$characters" -lt 60 ]; then stop "$key_source is incomplete: $how_many"; fi
  if [ "$characters" -gt 60 ]; then stop "$key_source is too long: $how_many"; fi
  # Removing all other characters, line breaks included, must not shorten the key.
  if [ "$(printf '%s' "$GATEWAY_API_KEY" | tr -cd '0-9A-Za-z-' | wc -c)" -ne 60 ]; then
    stop "$key_source contains an invalid character: only letters and digits follow sk-gateway-. Nothing was changed."
  fi
}`;
