#!/usr/bin/env bash
# A Docker daemon for the tests, on a machine without one.
#   docker.sh start DIRECTORY        starts it, and prints its address; needs root, and apt where Docker is not installed
#   docker.sh image HOST NAME        makes an image of this machine's Node, with its libraries and busybox
#   docker.sh node HOST NAME         the same with this machine's npm
#   docker.sh python HOST NAME       makes an image of this machine's Python and busybox
#   docker.sh postgres HOST NAME     makes an image of PostgreSQL and busybox
#   docker.sh terraform HOST NAME    makes an image of this machine's Node and Terraform
#   docker.sh static HOST NAME       makes an image of busybox alone, which is linked statically
#   docker.sh empty HOST NAME        makes an image without any program
#   docker.sh stop DIRECTORY         ends it, and removes the directory
# The daemon changes no rule of the machine's firewall, so containers reach this machine and nothing beyond it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/images.sh"

install_docker() {
  apt-get install -y --no-install-recommends docker.io busybox-static >/dev/null 2>&1 ||
    { apt-get update && apt-get install -y --no-install-recommends docker.io busybox-static; } >/dev/null 2>&1
}

start() {
  if ! command -v dockerd >/dev/null || ! command -v busybox >/dev/null; then
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && install_docker || { echo "Docker cannot be installed here." >&2; exit 1; }
  fi
  [ "$(id -u)" = 0 ] || { echo "Only root starts a Docker daemon." >&2; exit 1; }
  mkdir -p "$1"
  local socket="unix://$1/docker.sock"
  ulimit -n 8192
  setsid nohup dockerd --data-root "$1/data" --exec-root "$1/run" --pidfile "$1/pid" --host "$socket" \
    --iptables=false --bridge=none >"$1/log" 2>&1 </dev/null &
  for _ in $(seq 150); do
    docker --host "$socket" info >/dev/null 2>&1 && { echo "$socket"; return; }
    sleep 0.2
  done
  tail -5 "$1/log" >&2
  exit 1
}

import() {
  local -a changes=(--change 'ENV PATH=/usr/local/bin:/usr/bin:/bin')
  [ ! -e "$root/entrypoint.sh" ] || changes+=(--change 'ENTRYPOINT ["/entrypoint.sh"]')
  tar -C "$root" -c . | docker --host "$1" import "${changes[@]}" - "$2" >/dev/null
}

stop() {
  [ -f "$1/pid" ] || return 0
  kill "$(cat "$1/pid")"
  for _ in $(seq 100); do [ -f "$1/pid" ] || break; sleep 0.2; done
  umount "$1"/run/netns/* 2>/dev/null || true
  rm -rf "$1"
}

command=${1:?start, image, node, python, postgres, terraform, static, empty or stop}
case $command in
  start) start "$(realpath -m "${2:?a directory}")" ;;
  stop) stop "$(realpath -m "${2:?a directory}")" ;;
  image | node | python | postgres | terraform | static | empty)
    root=$(mktemp -d)
    trap 'rm -rf "$root"' EXIT
    files_of "$command" "$root"
    import "${2:?the address of a daemon}" "${3:?a name}"
    ;;
  *) echo "start, image, node, python, postgres, terraform, static, empty or stop" >&2; exit 2 ;;
esac
