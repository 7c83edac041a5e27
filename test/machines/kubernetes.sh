#!/usr/bin/env bash
# A Kubernetes cluster of one node for the tests, on a machine without one: etcd, the API server, controllers, the scheduler, the kubelet and containerd.
#   kubernetes.sh start DIRECTORY             starts it, and prints the path of its kubeconfig
#   kubernetes.sh image DIRECTORY KIND NAME   gives its node an image of a kind of docker.sh, such as `image`, `node`, `static` or `empty`
#   kubernetes.sh archive DIRECTORY NAME      gives its node an image of the files of a tar that it reads
#   kubernetes.sh load DIRECTORY              gives its node the images of an archive of `docker save` that it reads
#   kubernetes.sh stop DIRECTORY              ends it, and removes the directory
#   kubernetes.sh compile                     compiles what a start would compile, if it is not there
#   kubernetes.sh has-programs                tells by its exit code whether it is there
# It needs root, apt or what apt would install, and Go: Kubernetes' own programs are compiled from their Go modules, about seven minutes on two cores. They are
# kept in ATELIER_TEST_CACHE (by default .cache/atelier of the home directory), and the next start takes ten seconds.
# Its Pods reach this machine at 10.89.7.1, and no name and nothing beyond it. It pulls no images: name them localhost/NAME:TAG.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/images.sh"

version=1.33.4 # later kubelets refuse control groups of version 1 unless they are told not to
programs=${ATELIER_TEST_CACHE:-${HOME:-/root}/.cache/atelier}/kubernetes-$version
names="kube-apiserver kubelet kube-controller-manager kube-scheduler"
port=${ATELIER_TEST_KUBERNETES_PORT:-27440} # and the next five
node=10.89.6.1 # only this machine reaches it; a node refuses the loopback address

refuse() {
  echo "$1" >&2
  exit 1
}

has_programs() {
  local name
  for name in $names; do [ -x "$programs/$name" ] || return 1; done
}

install_packages() {
  command -v etcd >/dev/null && command -v containerd >/dev/null && command -v runc >/dev/null && command -v busybox >/dev/null &&
    command -v openssl >/dev/null && command -v iptables >/dev/null && command -v ip >/dev/null && [ -x /usr/lib/cni/bridge ] && return
  command -v apt-get >/dev/null || refuse "The programs that a cluster needs cannot be installed here."
  local packages="etcd-server containerd runc containernetworking-plugins iptables iproute2 busybox-static openssl curl"
  apt-get install -y --no-install-recommends $packages >/dev/null 2>&1 ||
    { apt-get update && apt-get install -y --no-install-recommends $packages; } >/dev/null 2>&1 ||
    refuse "The programs that a cluster needs could not be installed."
}

# Kubernetes is no module that others may require as it is: its own parts are replaced by those of the same version
compile() {
  command -v go >/dev/null || refuse "Kubernetes cannot be compiled without Go."
  local module file name
  module=$(mktemp -d)
  cd "$module"
  printf 'module cluster\n\ngo 1.24.0\n\nrequire k8s.io/kubernetes v%s\n' "$version" >go.mod
  file=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
  grep -oE 'k8s.io/[a-z0-9-]+ => ' "$file" | sort -u | sed "s#\(.*\) => #replace \1 => \1 v0.${version#1.}#" >>go.mod
  {
    printf '//go:build tools\n\npackage cluster\n\nimport (\n'
    for name in $names; do printf '\t_ "k8s.io/kubernetes/cmd/%s"\n' "$name"; done
    printf ')\n'
  } >programs.go
  go mod tidy >/dev/null 2>&1
  mkdir -p "$programs"
  for name in $names; do
    go build -trimpath -ldflags '-s -w' -o "$module/$name" "k8s.io/kubernetes/cmd/$name"
    mv "$module/$name" "$programs/$name"
  done
  cd "$here"
  rm -rf "$module"
}

# NAME COMMAND…: runs it beside this script, with its log and its id
run() {
  local name=$1
  shift
  setsid nohup "$@" >"$directory/$name.log" 2>&1 </dev/null &
  echo $! >"$directory/$name.pid"
}

containers() { ctr --address "$directory/containerd.sock" --namespace k8s.io "$@"; }

# FILES NAME PROGRAM: gives the node an image of a folder
import() {
  local work program=${3:+\"Cmd\":[$3],}
  work=$(mktemp -d)
  tar -C "$1" --numeric-owner -cf "$work/layer.tar" .
  printf '{"architecture":"%s","os":"linux","config":{%s"Env":["PATH=/usr/local/bin:/usr/bin:/bin"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
    "$(dpkg --print-architecture)" "$program" "$(sha256sum "$work/layer.tar" | cut -d' ' -f1)" >"$work/config.json"
  printf '[{"Config":"config.json","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$2" >"$work/manifest.json"
  # Of two imports of the same content at a time, one fails
  tar -C "$work" -c . | flock "$directory/import.lock" ctr --address "$directory/containerd.sock" --namespace k8s.io images import - >/dev/null
  rm -rf "$work"
}

configure() {
  openssl genrsa -out sa.key 2048 2>/dev/null
  token=$(openssl rand -hex 16)
  (umask 077 && echo "$token,admin,1,system:masters" >tokens.csv)
  cat >kubeconfig <<YAML
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://127.0.0.1:$((port + 2))", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: "$token"}}]
contexts: [{name: test, context: {cluster: test, user: admin}}]
current-context: test
YAML
  cat >containerd.toml <<TOML
version = 2
root = "$directory/containerd/root"
state = "$directory/containerd/state"
[grpc]
  address = "$directory/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$directory/cni"
TOML
  cat >cni/10-bridge.conflist <<'JSON'
{"cniVersion":"0.4.0","name":"atelier-test","plugins":[{"type":"bridge","bridge":"atelier-test","isGateway":true,"ipMasq":false,"ipam":{"type":"host-local","ranges":[[{"subnet":"10.89.7.0/24"}]],"routes":[{"dst":"0.0.0.0/0"}]}}]}
JSON
  cat >kubelet.yaml <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
containerRuntimeEndpoint: unix://$directory/containerd.sock
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
address: $node
failSwapOn: false
# Without groups of its own for Pods, the kubelet of this version ends with a defect when it resizes one
featureGates: {InPlacePodVerticalScaling: false}
cgroupsPerQOS: false
enforceNodeAllocatable: []
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
maxOpenFiles: 8192
oomScoreAdj: 0
port: $((port + 3))
healthzPort: 0
resolvConf: ""
YAML
}

call() { curl -sk -H "Authorization: Bearer $token" "https://127.0.0.1:$((port + 2))$1"; }

is_ready() {
  call /api/v1/nodes/test | tr -d ' \n' | grep -q '"status":"True"[^}]*"reason":"KubeletReady"' &&
    call /api/v1/namespaces/default/serviceaccounts/default | grep -q '"uid"'
}

start() {
  [ "$(id -u)" = 0 ] || refuse "Only root starts a cluster."
  install_packages
  has_programs || compile >&2
  mkdir -p "$directory"/{cni,containerd,kubelet,pause}
  cd "$directory"
  ulimit -n 8192
  ip address replace "$node/32" dev lo
  # Before the first Pod, which would make it too: this machine listens there
  ip link show atelier-test >/dev/null 2>&1 || ip link add atelier-test type bridge
  ip address replace 10.89.7.1/24 dev atelier-test
  ip link set atelier-test up
  configure
  local etcd="http://127.0.0.1:$port"
  run etcd etcd --data-dir "$directory/etcd" --unsafe-no-fsync --listen-client-urls "$etcd" --advertise-client-urls "$etcd" \
    --listen-peer-urls "http://127.0.0.1:$((port + 1))"
  run containerd containerd --config containerd.toml
  run api "$programs/kube-apiserver" --etcd-servers "$etcd" --secure-port $((port + 2)) --bind-address 127.0.0.1 --advertise-address 127.0.0.1 \
    --cert-dir "$directory/certificates" --service-account-key-file sa.key --service-account-signing-key-file sa.key \
    --service-account-issuer https://kubernetes.default.svc --token-auth-file tokens.csv --authorization-mode RBAC \
    --service-cluster-ip-range 10.97.0.0/16 --kubelet-preferred-address-types InternalIP,Hostname
  for _ in $(seq 300); do [ "$(call /readyz)" = ok ] && break; sleep 0.2; done
  mkdir -p pause/bin
  cp "$(command -v busybox)" pause/bin/busybox
  import pause localhost/pause:1 '"/bin/busybox","sleep","2147483647"'
  run controllers "$programs/kube-controller-manager" --kubeconfig kubeconfig --leader-elect=false --service-account-private-key-file sa.key \
    --root-ca-file certificates/apiserver.crt --secure-port $((port + 4))
  run scheduler "$programs/kube-scheduler" --kubeconfig kubeconfig --leader-elect=false --secure-port $((port + 5))
  run kubelet "$programs/kubelet" --config kubelet.yaml --kubeconfig kubeconfig --hostname-override test --node-ip $node --root-dir "$directory/kubelet"
  for _ in $(seq 300); do
    is_ready && { echo "$directory/kubeconfig"; return; }
    sleep 0.2
  done
  tail -n 3 ./*.log >&2
  exit 1
}

# NAME…: asks these to end, and waits until their ports are free
finish() {
  local name id
  for name in "$@"; do [ ! -f "$directory/$name.pid" ] || kill "$(cat "$directory/$name.pid")" 2>/dev/null || true; done
  for name in "$@"; do
    [ -f "$directory/$name.pid" ] || continue
    id=$(cat "$directory/$name.pid")
    for _ in $(seq 50); do kill -0 "$id" 2>/dev/null || continue 2; sleep 0.2; done
    kill -9 "$id" 2>/dev/null || true
  done
}

stop() {
  local task
  [ -d "$directory" ] || return 0
  finish kubelet scheduler controllers api
  for task in $(containers tasks ls -q 2>/dev/null); do containers tasks kill -s 9 "$task" >/dev/null 2>&1 || true; done
  sleep 1
  finish etcd containerd
  awk '{print $2}' /proc/mounts | grep -F "$directory/" | sort -r | xargs -r umount -l 2>/dev/null || true
  ip address delete "$node/32" dev lo 2>/dev/null || true
  rm -rf "$directory"
}

command=${1:?start, image, archive, load, stop, compile or has-programs}
[ "$command" = has-programs ] || [ "$command" = compile ] || directory=$(realpath -m "${2:?a directory}")
case $command in
  start) start ;;
  load) containers images import - >/dev/null ;;
  stop) stop ;;
  compile) has_programs || compile >&2 ;;
  has-programs) has_programs ;;
  image | archive)
    files=$(mktemp -d)
    trap 'rm -rf "$files"' EXIT
    chmod 755 "$files"
    if [ "$command" = image ]; then
      files_of "${3:?a kind}" "$files"
      import "$files" "${4:?a name}"
    else
      tar -C "$files" -x
      import "$files" "${3:?a name}"
    fi
    ;;
  *) refuse "start, image, archive, load, stop, compile or has-programs" ;;
esac
