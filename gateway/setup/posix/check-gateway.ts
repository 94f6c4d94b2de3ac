/** The key is never on a command line, because other users can see command lines. */
export const checkGateway = String.raw`
# check_gateway <slug>...
check_gateway() {
  : >answer
  : >why
  status=$(ask "$base_url/v1/models" 2>why)
  if [ "$status" = 200 ]; then
    count=$(awk '{ n += gsub(/"object": ?"model"/, "") } END { print n + 0 }' answer)
    if [ "$count" -eq 1 ]; then say "OK, 1 model"; else say "OK, $count models"; fi
    for slug in "$@"; do
      grep -qF "\"$slug\"" answer && continue
      complain "The key is not connected to $slug. Connect the model in the console."
      unverified=1
    done
    return
  fi
  failed=1
  if [ "$status" = none ]; then
    complain "The gateway was not checked. Install curl, wget, node, python3 or perl."
    failed= unverified=1
  elif [ -s answer ]; then
    message=$(tr -d '\000-\037\177' <answer | awk '
      match($0, /"message": ?"([^"\\]|\\.)*"/) {
        text = substr($0, RSTART, RLENGTH)
        sub(/^"message": ?"/, "", text)
        sub(/"$/, "", text)
        gsub(/\\n/, " ", text)
        gsub(/\\"/, "\"", text)
        print text
      }')
    if [ -n "$message" ]; then complain "The gateway returned: $message (status $status)"
    else complain "The server at $base_url is not a Model Gateway: it returned status $status. Check the URL."; fi
  elif [ "$status" = 401 ]; then
    # wget discards the body of a response with this status.
    complain "The gateway rejected this key (status 401). Check the key, or create a new one in the console."
  else
    complain "The gateway at $base_url does not respond ($(tr -d '\000-\037\177' <why)). Check the URL and the network."
  fi
}
# Prints the status of the response, and writes its body to a file.
ask() {
  if have curl; then
    printf 'header = "Authorization: Bearer %s"\n' "$GATEWAY_API_KEY" |
      curl -sSg -m 20 -K - -o answer -w '%{http_code}' "$1"
  elif have wget && wget --version 2>/dev/null | grep -q GNU; then
    printf 'header = Authorization: Bearer %s\n' "$GATEWAY_API_KEY" >wgetrc
    WGETRC=$PWD/wgetrc wget -T 20 -t 1 --content-on-error -S -O answer "$1" 2>log ||
      grep -v '^ ' log | tail -n 2 >&2
    awk '/^ *HTTP\// { status = $2 } END { print status }' log
  elif have node; then
    node -e 'fetch(process.argv[1], { headers: { authorization: "Bearer " + process.env.GATEWAY_API_KEY },
        signal: AbortSignal.timeout(20000) }).then(async (answer) => {
        require("fs").writeFileSync("answer", await answer.text());
        console.log(answer.status);
      }).catch((error) => console.error(String(error.cause || error)))' "$1"
  elif have python3; then
    python3 -c 'import os, sys, urllib.request, urllib.error
request = urllib.request.Request(sys.argv[1])
request.add_header("Authorization", "Bearer " + os.environ["GATEWAY_API_KEY"])
try:
    try:
        answer = urllib.request.urlopen(request, timeout=20)
    except urllib.error.HTTPError as error:
        answer = error
    open("answer", "wb").write(answer.read())
    print(answer.getcode())
except Exception as error:
    sys.stderr.write(str(error))' "$1"
  elif have perl; then
    perl -MHTTP::Tiny -e 'my $answer = HTTP::Tiny->new(timeout => 20)->get($ARGV[0],
        { headers => { authorization => "Bearer $ENV{GATEWAY_API_KEY}" } });
      if ($answer->{status} == 599) { print STDERR $answer->{content}; exit }
      open(my $file, ">", "answer") or die; print $file $answer->{content};
      print $answer->{status}' "$1"
  else
    printf none
  fi
}`;
