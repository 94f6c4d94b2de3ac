#!/bin/sh
# Runs its parameters as the command of a server, prints the process ID, and exits with the server. Kills the server
# when standard input closes, which also happens when the test process is killed.
exec 3<&0
"$@" 3<&- &
server=$!
echo "$server"
{ cat >/dev/null; kill -KILL "$server" 2>/dev/null; } <&3 >/dev/null 2>&1 &
watch=$!
exec 3<&-
wait "$server"
kill "$watch" 2>/dev/null
