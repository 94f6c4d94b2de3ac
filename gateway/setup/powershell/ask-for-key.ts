/** Reads the key from the command or the environment, or prompts for it without echo. */
export const askForKey = String.raw`
function ask_for_key($given) {
  $source = 'The key in the command'
  $key = $given
  if ($key.Length -eq 0) {
    $source = 'The key in GATEWAY_API_KEY'
    $key = [string]$env:GATEWAY_API_KEY
    if ($key.Length -gt 0) { say_line 'Using the key in GATEWAY_API_KEY.' }
  }
  if ($key.Length -eq 0) {
    $source = 'The entered key'
    try { $secure = Read-Host -AsSecureString 'Gateway API key (hidden)' }
    catch { stop_setup 'No terminal to prompt for the API key. Set the environment variable GATEWAY_API_KEY.' }
    $key = (New-Object Net.NetworkCredential('', $secure)).Password -creplace '\s', ''
  }
  if ($key -cnotmatch '^sk-gateway-') {
    stop_setup ($source + ' is not a gateway key: those start with sk-gateway-. Nothing was changed.')
  }
  $how_many = 'it has ' + $key.Length + ' characters instead of 60. Nothing was changed.'
  if ($key.Length -lt 60) { stop_setup ($source + ' is incomplete: ' + $how_many) }
  if ($key.Length -gt 60) { stop_setup ($source + ' is too long: ' + $how_many) }
  if ($key -cnotmatch '^[0-9A-Za-z-]{60}\z') {
    stop_setup ($source + ' contains an invalid character: only letters and digits follow sk-gateway-. Nothing was changed.')
  }
  $setup.key = $key
}`;
