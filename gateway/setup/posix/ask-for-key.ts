/**
 * Reads the key from the environment or prompts for it without echo. Reads from the terminal, because
 * standard input is the script. The key is on no command line, which other users could see.
 */
export const askForKey = String.raw`
ask_for_key() {
  if [ -n "$GATEWAY_API_KEY" ]; then
    key_source="The key in GATEWAY_API_KEY"
    say "$key_source is used, since it is set."
  elif (exec </dev/tty) 2>/dev/null; then
    key_source="The key you gave"
    terminal=$(stty -g </dev/tty)
    trap 'stty "$terminal" </dev/tty; clean_up' EXIT
    stty -echo </dev/tty
    printf 'API key of the gateway (it is not shown): ' >/dev/tty
    IFS= read -r GATEWAY_API_KEY </dev/tty
    stty "$terminal" </dev/tty
    trap clean_up EXIT
    printf '\n' >/dev/tty
    GATEWAY_API_KEY=$(printf '%s' "$GATEWAY_API_KEY" | tr -d '[:space:]')
  else
    stop "There is no terminal to ask for the API key. Put it in the environment variable GATEWAY_API_KEY."
  fi
  export GATEWAY_API_KEY
  case $GATEWAY_API_KEY in
    sk-gateway-*) ;;
    *) stop "$key_source is not one of the gateway's, which start with sk-gateway-. Nothing was changed." ;;
  esac
  # Some put blanks before a count; arithmetic takes them away.
  characters=$(($(printf '%s' "$GATEWAY_API_KEY" | wc -m)))
  how_many="it has $characters characters, a whole one has 60. Nothing was changed."
  if [ "$characters" -lt 60 ]; then stop "$key_source is incomplete: $how_many"; fi
  if [ "$characters" -gt 60 ]; then stop "$key_source is too long: $how_many"; fi
  # Without what is neither letter nor digit, a line break too, it has to be as long as with it.
  if [ "$(printf '%s' "$GATEWAY_API_KEY" | tr -cd '0-9A-Za-z-' | wc -c)" -ne 60 ]; then
    stop "$key_source has characters that no key has: behind sk-gateway- are letters and digits. Nothing was changed."
  fi
}`;
