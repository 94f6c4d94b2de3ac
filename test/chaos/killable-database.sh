#!/bin/sh
# Runs the server given as parameters, says its process id, and ends when it ends. It is killed when standard input closes,
# which the kernel does however its holder dies.
exec 3<&0
"$@" 3<&- &
server=$!
echo "$server"
{ cat >/dev/null; kill -KILL "$server" 2>/dev/null; } <&3 >/dev/null 2>&1 &
watch=$!
exec 3<&-
wait "$server"
kill "$watch" 2>/dev/null
