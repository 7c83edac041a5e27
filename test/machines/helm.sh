#!/usr/bin/env bash
# Helm for the tests of the chart, compiled from its Go module.
#   helm.sh compile      compiles it, if it is not there, and prints the folder that has it
#   helm.sh folder       prints the folder that has it; fails if it was not compiled before
# It is kept in ATELIER_TEST_CACHE (by default .cache/atelier of the home directory).
set -euo pipefail

version=3.22.0
folder=${ATELIER_TEST_CACHE:-${HOME:-/root}/.cache/atelier}/helm-$version

case ${1:-} in
  folder) [ -x "$folder/helm" ] ;;
  compile)
    command -v go >/dev/null || { echo "Helm cannot be compiled without Go." >&2; exit 1; }
    [ -x "$folder/helm" ] || GOBIN=$folder GOFLAGS=-trimpath go install -ldflags '-s -w' "helm.sh/helm/v3/cmd/helm@v$version" >&2
    ;;
  *) echo "compile or folder" >&2; exit 2 ;;
esac
echo "$folder"
