#!/usr/bin/env bash
# The project on a real kube-apiserver: its CRDs are accepted, the manager with the demo plugin walks hosts through their
# life within the bound of API writes, kubectl sees what it should, and the API tests that the embedded server must pass
# are passed by the real one too.    test.sh [ARGS for cargo test…]
#
#   BMO_KUBE_DIR    state of the API server (default: target/kube-lab)
#   PROFILE=release binaries of that cargo profile (default: debug)
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd); cd "$ROOT"
DIR=${BMO_KUBE_DIR:-$ROOT/target/kube-lab}
BINARIES=${CARGO_TARGET_DIR:-$ROOT/target}/${PROFILE:-debug}
profile=(); if [ "${PROFILE:-debug}" = release ]; then profile=(--release); fi

cargo xtask plugins "${profile[@]}"

trap '"$HERE/kube.sh" stop "$DIR"' EXIT
rm -rf -- "${DIR:?}/etcd" "$DIR/audit.log"
"$HERE/kube.sh" start "$DIR" > /dev/null
kubectl=("$ROOT/test/tools/kubectl" --kubeconfig "$DIR/kubeconfig")
export POD_NAMESPACE=default PROVISIONER_PLUGIN_DIR=$BINARIES/plugins

echo "== CRDs"
"${kubectl[@]}" apply --server-side --force-conflicts -f config/crd
"${kubectl[@]}" wait --for=condition=Established crd --all --timeout=60s > /dev/null

echo "== API tests on the real server"
# The suite runs on the embedded server in `make test`; with this variable it talks to the server named here.
BMO_TEST_KUBECONFIG=$DIR/kubeconfig cargo test --locked --test api -- "$@"

echo "== hosts of the demo plugin"
"$ROOT/test/tools/python" "$HERE/fleet.py" --lab "$DIR" --hosts "${HOSTS:-20}" --idle 20 --max-writes 15 --log "$DIR/manager.log" -- \
  "$BINARIES/baremetal-operator" -provisioner=demo -webhook-port=0 -metrics-addr=0 -health-addr=0
