# Starts code-server on the port of the workspace. The first start installs it.
set -eu

editor=$(cd "$(dirname "$0")" && pwd)

fail() {
  echo "$1" >&2
  exit 1
}

command -v node > /dev/null || fail "The editor needs Node.js 20, 22 or 24, and the workspace has none."

# Each version of code-server wants one version of Node
node=$(node -p 'process.versions.node.split(".")[0]')
case "$node" in
  20) version=4.100.3 ;;
  22) version=4.108.2 ;;
  24) version=4.139.1 ;;
  *) fail "The editor needs Node.js 20, 22 or 24, and the workspace has $node." ;;
esac

home="$editor/$version"
program="$home/node_modules/.bin/code-server"
if [ ! -e "$home/complete" ]; then
  echo "Installing code-server $version from the npm registry, which takes some minutes"
  mkdir -p "$home"
  # Its own scripts compile parts of it, which npm leaves out for root otherwise
  if ! npm_config_unsafe_perm=true npm install --prefix "$home" --no-audit --no-fund "code-server@$version" > "$editor/install.log" 2>&1; then
    tail -n 20 "$editor/install.log" >&2
    fail "code-server $version cannot be installed. It needs python3, make, g++, the headers of Kerberos (libkrb5-dev), the npm registry and github.com. The whole log is $editor/install.log."
  fi
  touch "$home/complete"
fi

nohup "$program" --auth none --bind-addr "127.0.0.1:$PORT" --disable-telemetry --disable-update-check \
  --user-data-dir "$editor/data" --extensions-dir "$editor/extensions" . > "$editor/editor.log" 2>&1 &
process=$!

echo "Waiting for the editor on port $PORT"
until node -e 'fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))'; do
  if ! kill -0 "$process" 2> /dev/null; then
    tail -n 20 "$editor/editor.log" >&2
    fail "The editor has ended. The whole log is $editor/editor.log."
  fi
  sleep 0.5
done
echo "The editor is up"
