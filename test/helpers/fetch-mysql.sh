#!/bin/sh
# Unpacks MySQL of Debian unstable and its C library into the new folder $1, from apt's mirror. apt uses separate lists,
# status and archives, so the machine does not change, and root is not needed.
set -eu
folder=$1
apt=$folder/apt
mkdir -p "$apt/lists/partial" "$apt/archives/partial"
: >"$apt/status"
: >"$apt/sources.list"

# Keeps apt's settings, such as a proxy, but not the hooks, which would run on the machine's folders.
settings() {
  cat <<END
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
Dir::State::Lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache::Archives "$apt/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Acquire::Languages "none";
APT::Sandbox::User "";
Debug::NoLocking "1";
END
}
settings >"$apt/machine.conf"
{
  settings
  echo "Dir::Etc::SourceList \"$apt/sources.list\";"
  echo 'Dir::Etc::SourceParts "/dev/null";'
} >"$apt/unstable.conf"

mirror() {
  apt-get "$@" indextargets --format '$(REPO_URI)' 'Label: Debian' 'Created-By: Packages' | head -n 1
}
found=$(mirror)
if [ -z "$found" ]; then
  apt-get -c "$apt/machine.conf" -qq update
  found=$(mirror -c "$apt/machine.conf")
fi
[ -n "$found" ] || { echo 'apt knows no mirror of Debian.' >&2; exit 1; }

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
option=
[ ! -f "$keyring" ] || option="[signed-by=$keyring] "
echo "deb $option$found unstable main" >"$apt/sources.list"
apt-get -c "$apt/unstable.conf" -qq update
apt-get -c "$apt/unstable.conf" -qq -y --no-install-recommends --download-only install \
  mysql-server-core mysql-client-core >/dev/null
for package in "$apt"/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" |
    tar -x -C "$folder" --wildcards './usr/lib/*' './usr/sbin/mysqld' './usr/bin/mysql' './usr/bin/mysqldump' \
      './usr/share/mysql/*' 2>/dev/null || true
done
rm -rf "$apt" "$folder"/usr/lib/*/perl* "$folder"/usr/lib/*/gconv

library=$(dirname "$(ls "$folder"/usr/lib/*/ld-linux*.so.*)")
loader=$(basename "$library"/ld-linux*.so.*)
library=usr/lib/$(basename "$library")

for program in mysql mysqldump; do
  cat >"$folder/$program" <<END
#!/bin/sh
folder=\$(dirname "\$0")
exec "\$folder/$library/$loader" --library-path "\$folder/$library" "\$folder/usr/bin/$program" "\$@"
END
done

# `server` and `installer` receive the parameters of MariaDB's programs. mysqld accepts --no-defaults only as the first
# parameter.
cat >"$folder/server" <<END
#!/bin/sh
folder=\$(dirname "\$0")
[ "\${1-}" != --no-defaults ] || shift
exec "\$folder/$library/$loader" --library-path "\$folder/$library" "\$folder/usr/sbin/mysqld" --no-defaults \\
  --basedir="\$folder/usr" --lc-messages-dir="\$folder/usr/share/mysql" --plugin-dir="\$folder/usr/lib/mysql/plugin" \\
  --secure-file-priv=NULL --mysqlx=OFF "\$@"
END
cat >"$folder/users.sql" <<'END'
CREATE USER root@'%' IDENTIFIED BY '';
GRANT ALL ON *.* TO root@'%' WITH GRANT OPTION;
END
cat >"$folder/installer" <<'END'
#!/bin/sh
folder=$(dirname "$0")
for parameter; do
  shift
  case $parameter in
    --auth-root-*|--skip-test-db) ;; # MariaDB's
    *) set -- "$@" "$parameter" ;;
  esac
done
exec "$folder/server" "$@" --initialize-insecure --init-file="$folder/users.sql"
END
chmod +x "$folder/server" "$folder/installer" "$folder/mysql" "$folder/mysqldump"
"$folder/server" --version >/dev/null
