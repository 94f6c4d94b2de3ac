#!/bin/sh
# Runs MariaDB or MySQL in the folder $1 on port $2 until standard input closes. Then deletes $1 if $5 is "remove".
# $3 is the installer, and $4 the server, which receives the parameters after $6. A new server copies its data from $6.
folder=$1 port=$2 installer=$3 server=$4 after=$5 new=$6
shift 6
trap : TERM # The script survives its own `kill 0`. The programs that it starts do not inherit the trap.

# MySQL and MariaDB run as root only with this option.
as_root=
[ "$(id -u)" -ne 0 ] || as_root=--user=root

# The default collation and the unusual time zone reveal tables and queries that depend on the server's settings. Data
# need not survive a crash, so writes do not wait for the disk. A slow client is not disconnected.
run() {
  # A starting server deletes all temporary tables in this folder, so servers must not share it.
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
      --connect-timeout=300 --net-read-timeout=300 --net-write-timeout=300 \
      --loose-innodb-log-file-size=16M --loose-innodb-redo-log-capacity=32M "$@"
}

run "$@" >/dev/null &
exec 2>/dev/null
# The kernel closes standard input even if the test run is killed, so no server outlives the test run.
cat >/dev/null
# The script must have its own process group: this signal reaches the whole group, and Ctrl-C reaches only the test run.
kill 0
wait
[ "$after" = remove ] || exit 0
# The installer's child processes may still write files for a moment.
for attempt in 1 2 3 4 5; do
  rm -rf "$folder" && break
  sleep 0.5
done
