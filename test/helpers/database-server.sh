#!/bin/sh
# Runs a MariaDB or MySQL in the folder $1 on port $2 until standard input closes. $3 creates its data, $4 is the server;
# with "remove" for $5 the folder goes away at the end. The folder $6 keeps the data of a new server, which later ones copy.
# The rest is for the server. What it says goes to standard error, which ends with the server.
#
# Whoever starts this holds the other end of standard input, and the kernel closes that end however its holder dies:
# a server that was started directly would outlive a killed test run. It expects a process group of its own, so that
# Ctrl-C reaches only the test run and the signal at the end reaches only what was started here.
folder=$1 port=$2 installer=$3 server=$4 after=$5 new=$6
shift 6
trap : TERM # Caught here, and back to its default in the programs started below.

# MySQL and MariaDB refuse to run as root unless told to.
as_root=
[ "$(id -u)" -ne 0 ] || as_root=--user=root

# The collation is the server's own for UTF-8, so that a table that forgot its own is noticed, and the time zone is
# one that nobody expects. Nothing here has to survive a crash, so nothing waits for the disk. A server that starts deletes
# what it takes for its own leftovers in the folder for temporary tables: two must not share one.
run() {
  mkdir -p "$folder/tmp"
  {
    [ -d "$folder/data/mysql" ] || {
      {
        [ -d "$new/mysql" ] ||
          "$installer" --no-defaults $as_root --datadir="$new" --tmpdir="$folder/tmp" \
            --auth-root-authentication-method=normal --skip-test-db >&2
      } && cp -R "$new" "$folder/data"
    }
  } &&
    exec "$server" --no-defaults $as_root --datadir="$folder/data" \
      --tmpdir="$folder/tmp" --socket="$folder/socket" --pid-file="$folder/pid" --port="$port" --bind-address=127.0.0.1 \
      --character-set-server=utf8mb4 --default-time-zone=+05:45 --skip-log-bin --skip-name-resolve --performance-schema=OFF \
      --innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=64M --skip-innodb-doublewrite \
      --loose-innodb-log-file-size=16M --loose-innodb-redo-log-capacity=32M "$@"
}

run "$@" >/dev/null &
exec 2>/dev/null
cat >/dev/null
kill 0
wait
[ "$after" = remove ] || exit 0
# Programs that the installer started may still be writing for a moment.
for attempt in 1 2 3 4 5; do
  rm -rf "$folder" && break
  sleep 0.5
done
