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

# The files of an image of a kind: image, terraform, static or empty
files_of() {
  chmod 755 "$2"
  [ "$1" = empty ] || with_busybox "$2"
  case $1 in image | terraform) with_node "$2" ;; esac
  [ "$1" != terraform ] || command install -D "$(readlink -f "$(command -v terraform)")" "$2/usr/local/bin/terraform"
}
