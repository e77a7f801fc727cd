#!/bin/bash
# A real Kubernetes API server on loopback for tests and measurements: kube-apiserver and etcd as their Go modules
# publish them, and of kube-controller-manager the two controllers that tests lean on: namespaces are emptied, objects
# without owner are collected. There are no nodes and no other controllers.
#
#   kube.sh build              build the three binaries unless they are there; prints their folder
#   kube.sh check              whether `build` could work: binaries are there, or Go is new enough
#   kube.sh start DIR [PORT]   start them with state, keys, logs and kubeconfigs in DIR; prints the kubeconfig's path
#                              PORT absent or 0: free ports are looked for; else PORT, PORT+1 and PORT+2 are used
#   kube.sh stop DIR           end what `start DIR` started, by process id; DIR is kept
#   kube.sh status DIR         what runs of it; 0 when the API server answers, 1 when it does not
#
#   DIR/kubeconfig           an administrator. DIR/kubeconfig-manager: another one, the only user whose requests are
#                            written to DIR/audit.log (one JSON event a line), so that a manager's requests can be counted
#   CONTROLLERS=0            leaves the controller manager out
#   KUBEBUILDER_ASSETS       where set, the folder of ready binaries (as setup-envtest lays it); nothing is built then, and
#                            the controller manager is left out when that folder has none
#
# Progress goes to standard error, answers to standard output.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BINARIES=(etcd:etcd apiserver:kube-apiserver controller-manager:kube-controller-manager) # package:binary

say() { echo "kube: $*" >&2; }
die() { say "$*"; exit 1; }

bin_dir() {
  if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then echo "$KUBEBUILDER_ASSETS"; return; fi
  echo "${XDG_CACHE_HOME:-$HOME/.cache}/bmo/kube/$(sha256sum "$HERE/go.sum" | cut -c1-12)"
}

check_go() {
  local want have; want=$(awk '$1 == "go" {print $2; exit}' "$HERE/go.mod")
  command -v go > /dev/null || die "the API server is built with Go, which is not on PATH. Install Go $want or newer
      (Debian: package golang-go of a release that has it), or set KUBEBUILDER_ASSETS to a folder
      with kube-apiserver and etcd (setup-envtest makes one)."
  have=$(cd / && GOTOOLCHAIN=local go env GOVERSION); have=${have#go}
  [ "$(printf '%s\n%s\n' "$want" "$have" | sort -V | head -1)" = "$want" ] ||
    die "Go $have is too old: $HERE/go.mod needs $want or newer. Install it, or set KUBEBUILDER_ASSETS."
}

check() {
  local bin pair; bin=$(bin_dir)
  [ -z "${KUBEBUILDER_ASSETS:-}" ] || return 0
  for pair in "${BINARIES[@]}"; do [ -x "$bin/${pair#*:}" ] || { check_go; return; }; done
}

compile() { # compile PACKAGE OUTPUT: go build, with a sign of life every half minute
  local started=$SECONDS build tick=0
  (cd "$HERE" && GOTOOLCHAIN=local CGO_ENABLED=0 exec go build -mod=readonly -trimpath -ldflags='-s -w' -o "$2.part" "./$1" >&2) &
  build=$!
  while kill -0 "$build" 2>/dev/null; do
    sleep 1; tick=$((tick + 1)); if [ $((tick % 30)) = 0 ]; then say "    ${2##*/}: still compiling, $((SECONDS - started)) s"; fi
  done
  wait "$build" || die "building ${2##*/} failed (see above)"
  mv "$2.part" "$2"; say "    ${2##*/}: built in $((SECONDS - started)) s"
}

build() {
  local bin pair missing=(); bin=$(bin_dir)
  if [ -n "${KUBEBUILDER_ASSETS:-}" ]; then
    for pair in etcd kube-apiserver; do
      [ -x "$bin/$pair" ] || die "KUBEBUILDER_ASSETS=$bin has no executable $pair"
    done
    echo "$bin"; return
  fi
  mkdir -p "$bin"; exec 9> "$bin/.lock"; flock 9 # two builds at once would only slow each other down
  for pair in "${BINARIES[@]}"; do [ -x "$bin/${pair#*:}" ] || missing+=("$pair"); done
  if [ ${#missing[@]} -gt 0 ]; then
    check_go
    say "building ${#missing[@]} of ${#BINARIES[@]} binaries from Go modules into $bin, once: about 6 min on 2 cores"
    for pair in "${missing[@]}"; do compile "${pair%%:*}" "$bin/${pair#*:}"; done
  fi
  exec 9>&-
  echo "$bin"
}

cert() { # cert NAME SUBJECT EXTENSIONS: a key and a certificate signed by the lab's CA
  openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "$2" 2> /dev/null
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -out "$1.crt" -days 30 -extfile <(echo "$3") 2> /dev/null
}

keys() {
  [ ! -f sa.pub ] || return 0
  openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=lab-ca -days 30 2> /dev/null
  cert server /CN=kube-apiserver "subjectAltName=IP:127.0.0.1,DNS:localhost"
  cert admin /O=system:masters/CN=admin extendedKeyUsage=clientAuth
  cert manager /O=system:masters/CN=manager extendedKeyUsage=clientAuth
  openssl genrsa -out sa.key 2048 2> /dev/null; openssl rsa -in sa.key -pubout -out sa.pub 2> /dev/null
}

kubeconfig() { # kubeconfig USER PORT
  cat << K
apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: "https://127.0.0.1:$2", certificate-authority-data: $(base64 -w0 ca.crt)}}]
users: [{name: $1, user: {client-certificate-data: $(base64 -w0 "$1.crt"), client-key-data: $(base64 -w0 "$1.key")}}]
contexts: [{name: lab, context: {cluster: lab, user: $1}}]
current-context: lab
K
}

audit_policy() {
  cat << 'A'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: Metadata, users: [manager]}
- {level: None}
A
}

busy() { (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }

free_port() { # the first of three neighbouring ports on which nobody listens
  local p
  for _ in $(seq 200); do
    p=$((20000 + (RANDOM * 32768 + RANDOM) % 12000)) # below the kernel's own range for outgoing connections
    busy $p || busy $((p + 1)) || busy $((p + 2)) || { echo $p; return; }
  done
  die "found no three free neighbouring ports between 20000 and 32000"
}

spawn() { local n=$1; shift; setsid "$@" > "$n.log" 2>&1 < /dev/null & echo $! > "$n.pid"; }

# a pid file may be older than the machine's last start: the process must be one of DIR
running() { [ -f "$1.pid" ] && [ "$(readlink "/proc/$(cat "$1.pid")/cwd" 2> /dev/null)" = "$PWD" ]; }

ready() { curl -sf --max-time 5 --cacert ca.crt --cert admin.crt --key admin.key "https://127.0.0.1:$1/readyz" > /dev/null; }

start_once() { # start_once BIN PORT: 0 ready, 1 somebody took a port meanwhile
  local bin=$1 port=$2 db=http://127.0.0.1:$(($2 + 1)) peer=http://127.0.0.1:$(($2 + 2))
  echo "$port" > port
  spawn etcd "$bin/etcd" --data-dir etcd --listen-client-urls "$db" --advertise-client-urls "$db" --listen-peer-urls "$peer" \
    --initial-advertise-peer-urls "$peer" --initial-cluster "default=$peer" --unsafe-no-fsync --log-level error
  spawn apiserver "$bin/kube-apiserver" --etcd-servers="$db" --bind-address=127.0.0.1 --advertise-address=127.0.0.1 \
    --secure-port="$port" --cert-dir=certs --tls-cert-file=server.crt --tls-private-key-file=server.key --client-ca-file=ca.crt \
    --authorization-mode=RBAC --service-account-issuer=https://localhost --service-account-key-file=sa.pub \
    --service-account-signing-key-file=sa.key --service-cluster-ip-range=10.0.0.0/24 --disable-admission-plugins=ServiceAccount \
    --endpoint-reconciler-type=none --audit-policy-file=audit.yaml --audit-log-path=audit.log --audit-log-mode=blocking \
    --max-requests-inflight=3000 --max-mutating-requests-inflight=1500
  for _ in $(seq 480); do
    if ready "$port"; then return 0; fi
    for n in etcd apiserver; do
      running $n && continue
      if grep -q 'address already in use' $n.log; then stop_here; return 1; fi
      tail -20 $n.log >&2; stop_here; die "$n ended; its log is $PWD/$n.log"
    done
    sleep 0.25
  done
  tail -20 apiserver.log >&2; stop_here; die "kube-apiserver did not get ready in 2 min; its log is $PWD/apiserver.log"
}

start() {
  local dir=$1 want=${2:-0} bin port began; bin=$(build); mkdir -p "$dir"; cd "$dir"; umask 077; began=$(date +%s%N)
  if running apiserver && ready "$(cat port)"; then say "already running in $PWD"; echo "$PWD/kubeconfig"; return; fi
  stop_here; keys; audit_policy > audit.yaml
  for try in 1 2 3 4 5; do
    port=$want; [ "$want" != 0 ] || port=$(free_port)
    if start_once "$bin" "$port"; then break; fi
    if [ "$want" != 0 ] || [ $try = 5 ]; then die "port $port, $((port + 1)) or $((port + 2)) is taken by another process"; fi
  done
  kubeconfig admin "$port" > kubeconfig
  kubeconfig manager "$port" > kubeconfig-manager
  if [ "${CONTROLLERS:-1}" = 1 ] && [ -x "$bin/kube-controller-manager" ]; then
    spawn controllers "$bin/kube-controller-manager" --kubeconfig kubeconfig --service-account-private-key-file=sa.key \
      --root-ca-file=ca.crt --controllers=namespace-controller,garbage-collector-controller --leader-elect=false --secure-port=0
  fi
  say "API server on port $port, ready after $((($(date +%s%N) - began) / 1000000)) ms, state in $PWD"
  echo "$PWD/kubeconfig"
}

stop_here() {
  local n p
  for n in controllers apiserver etcd; do
    if running $n; then
      p=$(cat $n.pid); kill "$p" 2> /dev/null || true
      for _ in $(seq 60); do running $n || break; sleep 0.1; done
      if running $n; then kill -KILL "$p" 2> /dev/null || true; fi
    fi
    rm -f $n.pid
  done
}

stop() { [ -d "$1" ] || { say "$1 does not exist: nothing to stop"; return 0; }; cd "$1"; stop_here; say "stopped; state kept in $PWD"; }

status() {
  [ -d "$1" ] || { echo "no lab in $1"; exit 1; }
  cd "$1"; local n
  for n in etcd apiserver controllers; do
    if running $n; then echo "$n: process $(cat $n.pid)"; else echo "$n: not running"; fi
  done
  if running apiserver && ready "$(cat port)"; then echo "https://127.0.0.1:$(cat port) is ready, kubeconfig $PWD/kubeconfig"; else exit 1; fi
}

usage() { sed -n '2,/^set -/p' "${BASH_SOURCE[0]}" | sed '$d; s/^# \{0,1\}//'; exit 2; }

case "${1:-}" in
  build | check) "$1" ;;
  start | stop | status) [ $# -ge 2 ] || usage; "$@" ;;
  *) usage ;;
esac
