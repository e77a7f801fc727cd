#!/usr/bin/env bash
# The operator on a real Ironic.
#
#   run.sh run [ARGS…]    start the lab and the operator with the ironic plugin; Ctrl-C ends both
#   run.sh test [ARGS…]   self-test of the lab, hosts through their life (flow.py ARGS…), kill -9 at random moments (kill.py)
#
#   BMO_API=embedded      `bmo up`, one process with its own API (default)
#   BMO_API=kube          `baremetal-operator` on the kube-apiserver of test/kube
#   FAULTS=1              also faults.py: what hosts show and do when BMCs, images and agents fail (some 10 min)
#   KILLS=20, SEED=N      how often the operator is killed, and when; KILLS=0 leaves that test out
#   PROFILE=release       binaries of that cargo profile (default: debug)
#
# Everything is ended by process id, also after a failure. State: target/ironic-lab, or BMO_LAB_DIR.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(cd "$HERE/../.." && pwd)
export BMO_LAB_DIR=${BMO_LAB_DIR:-$ROOT/target/ironic-lab}
API=${BMO_API:-embedded}
BINARIES=${CARGO_TARGET_DIR:-$ROOT/target}/${PROFILE:-debug}
STATE=$BMO_LAB_DIR/manager

case "$API" in
  embedded | kube) ;;
  *) echo "BMO_API=$API: embedded and kube are known" >&2; exit 2 ;;
esac

build() {
  local profile=(); if [ "${PROFILE:-debug}" = release ]; then profile=(--release); fi
  (cd "$ROOT" && cargo xtask plugins "${profile[@]}")
}

stop() {
  if [ "$API" = kube ]; then "$ROOT/test/kube/kube.sh" stop "$STATE/kube" || true; fi
  "$HERE/lab.sh" stop
}

# What the plugin reads: Ironic through the counting proxy, the agent's images, no credentials.
environment() {
  # shellcheck source=/dev/null
  . "$BMO_LAB_DIR/lab.env"
  export IRONIC_ENDPOINT=$IRONIC_COUNT_ENDPOINT DEPLOY_KERNEL_URL DEPLOY_RAMDISK_URL
  export METAL3_AUTH_ROOT_DIR=$STATE/no-auth PROVISIONER_PLUGIN_DIR=${PROVISIONER_PLUGIN_DIR:-$BINARIES/plugins}
}

# Sets OPERATOR, the command, and KUBECONFIG_FILE for the fresh state folder $1.
operator() {
  local dir=$1
  rm -rf -- "$dir"; mkdir -p "$dir"
  if [ "$API" = embedded ]; then
    KUBECONFIG_FILE=$dir/kubeconfig
    local port; port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    OPERATOR=("$BINARIES/bmo" up -provisioner=ironic --data-dir "$dir" --listen "127.0.0.1:$port" ${BMO_UP_ARGS:-})
  else
    "$ROOT/test/kube/kube.sh" stop "$STATE/kube"; rm -rf -- "$STATE/kube/etcd"
    "$ROOT/test/kube/kube.sh" start "$STATE/kube" > /dev/null
    KUBECONFIG_FILE=$STATE/kube/kubeconfig
    "$ROOT/test/tools/kubectl" --kubeconfig "$KUBECONFIG_FILE" apply --server-side --force-conflicts -f "$ROOT/config/crd" > /dev/null
    "$ROOT/test/tools/kubectl" --kubeconfig "$KUBECONFIG_FILE" wait --for=condition=Established crd --all --timeout=60s > /dev/null
    export POD_NAMESPACE=default
    OPERATOR=("$BINARIES/baremetal-operator" -provisioner=ironic -kubeconfig="$STATE/kube/kubeconfig-manager" -webhook-port=0
      -metrics-addr=0 -health-addr=0 ${BMO_OPERATOR_ARGS:-})
  fi
}

run() {
  build
  trap stop EXIT
  "$HERE/lab.sh" start
  environment; operator "$STATE/run"
  echo "kubectl --kubeconfig $KUBECONFIG_FILE get bmh -A     machines: $BMO_LAB_DIR/lab.env"
  trap true INT # the operator gets the Ctrl-C too and ends by itself; then the lab is stopped
  "${OPERATOR[@]}" "$@" || true
}

run_tests() {
  local failed=0
  build
  trap stop EXIT
  "$HERE/lab.sh" start
  echo "== the lab by itself"; "$HERE/smoke.py"
  environment
  operator "$STATE/flow"
  echo "== hosts through their life ($API API)"
  "$HERE/flow.py" --kubeconfig "$KUBECONFIG_FILE" --log "$STATE/flow.log" "$@" -- "${OPERATOR[@]}" || failed=1
  if [ "${FAULTS:-0}" = 1 ]; then
    operator "$STATE/faults"
    echo "== faults ($API API)"
    "$HERE/faults.py" --kubeconfig "$KUBECONFIG_FILE" --log "$STATE/faults.log" -- "${OPERATOR[@]}" || failed=1
  fi
  if [ "${KILLS:-20}" != 0 ]; then
    operator "$STATE/kill"
    echo "== kill -9 at ${KILLS:-20} random moments ($API API)"
    "$HERE/kill.py" --kubeconfig "$KUBECONFIG_FILE" --log "$STATE/kill.log" --kills "${KILLS:-20}" ${SEED:+--seed "$SEED"} -- "${OPERATOR[@]}" || failed=1
  fi
  return $failed
}

case "${1:-}" in
  run) shift; run "$@" ;;
  test) shift; mkdir -p "$STATE"; run_tests "$@" ;;
  *) sed -n '2,/^set -/p' "${BASH_SOURCE[0]}" | sed '$d; s/^# \{0,1\}//'; exit 2 ;;
esac
