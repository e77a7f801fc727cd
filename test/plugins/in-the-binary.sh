#!/usr/bin/env bash
# A host's whole life, create → provisioned → gone, in the official binary with each of the given plugins.
#   in-the-binary.sh <path of <name>-provisioner.so>...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cargo build --quiet --locked --bin bmo
bmo="${CARGO_TARGET_DIR:-target}/debug/bmo"
work=$(mktemp -d)
manager=''
finish() {
  if [ -n "$manager" ]; then kill "$manager" 2>/dev/null || true; wait "$manager" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap finish EXIT

k() { test/tools/kubectl --kubeconfig "$kubeconfig" --cache-dir "$work/cache" "$@"; }

host() {
  cat <<YAML
apiVersion: v1
kind: Secret
metadata: {name: bmc, namespace: default}
stringData: {username: admin, password: secret}
---
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: machine, namespace: default}
spec:
  online: true
  bootMACAddress: "00:00:5e:00:53:01"
  bmc: {address: "redfish://192.0.2.1/redfish/v1/Systems/1", credentialsName: bmc}
  image: {url: "http://192.0.2.9/image.qcow2", checksum: "abc", checksumType: sha256, format: qcow2}
YAML
}

life() {
  local plugin=$1 name log="$work/log"
  name=$(basename "$plugin" -provisioner.so)
  : >"$log"
  "$bmo" plugin check "$plugin" "$name"
  PROVISIONER_PLUGIN_DIR=$(dirname "$plugin") "$bmo" up "-provisioner=$name" -listen=127.0.0.1:0 \
    "-data-dir=$work/$name" >"$log" 2>&1 &
  manager=$!
  kubeconfig=''
  for _ in $(seq 300); do
    kubeconfig=$(sed -n 's/^ *export KUBECONFIG=//p' "$log")
    [ -z "$kubeconfig" ] || break
    kill -0 "$manager" 2>/dev/null || { cat "$log" >&2; echo "bmo up ended" >&2; return 1; }
    sleep 0.2
  done
  host | k apply -f - >/dev/null
  if ! k wait bmh/machine --for=jsonpath='{.status.provisioning.state}'=provisioned --timeout=120s; then
    k describe bmh machine >&2
    tail -50 "$log" >&2
    return 1
  fi
  k delete bmh machine --timeout=60s >/dev/null
  kill "$manager"
  wait "$manager" || true
  manager=''
  echo "$name: provisioned and deleted by the official binary"
}

for plugin in "$@"; do
  life "$(readlink -f "$plugin")"
done
