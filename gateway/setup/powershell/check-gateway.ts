export const checkGateway = String.raw`
function check_gateway($slugs) {
  $answer = ask_gateway ($setup.base_url + '/v1/models')
  if ($answer.status -eq 200) {
    $count = [regex]::Matches($answer.text, '"object": ?"model"').Count
    if ($count -eq 1) { say_line 'OK, 1 model' } else { say_line ('OK, ' + $count + ' models') }
    foreach ($slug in $slugs) {
      if ($answer.text.Contains('"' + $slug + '"')) { continue }
      complain_of ('The key is not connected to ' + $slug + '. Connect the model in the console.')
      $setup.is_unverified = $true
    }
    return
  }
  $setup.is_failed = $true
  if ($answer.status -eq 0) {
    complain_of ('The gateway at ' + $setup.base_url + ' does not respond (' + (plain_text $answer.text) + '). Check the URL and the network.')
    return
  }
  $message = [regex]::Match($answer.text, '"message": ?"((?:[^"\\]|\\.)*)"')
  if ($message.Success) {
    $said = $message.Groups[1].Value.Replace('\n', ' ').Replace('\"', '"')
    complain_of ('The gateway returned: ' + (plain_text $said) + ' (status ' + $answer.status + ')')
  } else {
    complain_of ('The server at ' + $setup.base_url + ' is not a Model Gateway: it returned status ' + $answer.status + '. Check the URL.')
  }
}
# Removes control characters.
function plain_text($text) { return $text -creplace '[\x00-\x1f\x7f-\x9f]', '' }
# The status, or 0, and the body or the error.
function ask_gateway($url) {
  $protocols = [Net.ServicePointManager]::SecurityProtocol
  try {
    # PowerShell 5.1 on older Windows offers only unsafe protocols by default. 0 selects the system's.
    if ([int]$protocols -ne 0) { [Net.ServicePointManager]::SecurityProtocol = $protocols -bor [Net.SecurityProtocolType]::Tls12 }
    $request = [Net.WebRequest]::Create($url)
    $request.Timeout = 20000
    $request.ReadWriteTimeout = 20000
    $request.AllowAutoRedirect = $false
    $request.Headers.Add('Authorization', 'Bearer ' + $setup.key)
    return read_answer ($request.GetResponse())
  } catch {
    $problem = $_.Exception
    while ($null -ne $problem.InnerException -and $problem -isnot [Net.WebException]) { $problem = $problem.InnerException }
    if ($problem -is [Net.WebException] -and $null -ne $problem.Response) { return read_answer $problem.Response }
    return @{ status = 0; text = $problem.Message }
  } finally { [Net.ServicePointManager]::SecurityProtocol = $protocols }
}
function read_answer($response) {
  try {
    $reader = New-Object IO.StreamReader($response.GetResponseStream(), [Text.Encoding]::UTF8)
    $letters = New-Object 'char[]' 1048576
    $length = $reader.ReadBlock($letters, 0, $letters.Length)
    return @{ status = [int]$response.StatusCode; text = [string]::new($letters, 0, $length) }
  } finally { $response.Close() }
}`;
