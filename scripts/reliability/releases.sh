#!/usr/bin/env bash
# Builds the images of this built repository at a real Docker daemon, and tries what operators do with them: the compose file, and the chart.
#   npm run build && scripts/reliability/releases.sh
# ATELIER_TEST_DOCKER_HOST is the daemon's address (test/machines/docker.sh start), and ATELIER_TEST_KUBECONFIG the cluster's file (test/machines/kubernetes.sh
# start). What needs a program that is not on the PATH (docker compose, helm, kubectl) or a machine that is not named is skipped with a message.
set -euo pipefail
cd "$(dirname "$0")/../.."

[ -n "${ATELIER_TEST_DOCKER_HOST:-}" ] || { echo "skipped: ATELIER_TEST_DOCKER_HOST names no daemon"; exit 0; }
export DOCKER_HOST=$ATELIER_TEST_DOCKER_HOST DOCKER_BUILDKIT=0
tag=localhost/atelier-releases
trap 'docker rmi --force $tag:server $tag:agent $tag:base >/dev/null 2>&1 || true' EXIT

test/machines/docker.sh image "$DOCKER_HOST" $tag:base
for target in server agent; do
  node deploy/image/files.mjs |
    docker build --quiet --build-arg BUILD_BASE=$tag:base --build-arg BASE=$tag:base --target $target --tag $tag:$target - >/dev/null
  echo "the image of the $target: $(($(docker save $tag:$target | gzip | wc -c) / 1000000)) MB compressed"
done

node scripts/reliability/compose.mjs --image $tag:server --base $tag:base

missing=$(for program in helm kubectl; do command -v $program >/dev/null || echo "$program is not on the PATH"; done)
[ -n "${ATELIER_TEST_KUBECONFIG:-}" ] || missing="ATELIER_TEST_KUBECONFIG names no cluster"
[ -z "$missing" ] || { echo "the chart is skipped: $missing"; exit 0; }
export KUBECONFIG=$ATELIER_TEST_KUBECONFIG
cluster=$(dirname "$KUBECONFIG")
docker save $tag:server $tag:agent | test/machines/kubernetes.sh load "$cluster"
test/machines/kubernetes.sh image "$cluster" image $tag:workspace
# What Pods of that cluster reach: this machine, and on it the API server, which listens on the loopback address alone
api=$(kubectl config view --minify --output 'jsonpath={.clusters[0].cluster.server}')
node scripts/reliability/chart.mjs --image $tag:server --agent-image $tag:agent --workspace-image $tag:workspace --address 10.89.7.1 --api "${api#https://}"
