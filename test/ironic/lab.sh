#!/bin/bash
# The Ironic lab: a real Ironic with everything around it that it would talk to, on loopback, without containers.
#
#   lab.sh install   Debian packages (as root, only those missing) and the Python environment (1 min, once)
#   lab.sh start     install if needed, start all parts with a fresh database, wait until each answers
#   lab.sh stop      end what start started, by process id; state and logs are kept until the next start
#   lab.sh status    what runs; 0 when all parts do
#
#   parts: Ironic (API and conductor in one process, sqlite) · 20 Redfish BMCs · an IPMI BMC · the machines' deployment
#   agent · an HTTP server with images · a proxy in front of Ironic that counts requests
#
#   BMO_LAB_DIR    state, logs and lab.env (default: target/ironic-lab of the repository)
#   LAB_KEEP=1     start with the database and the BMCs' state of the last time
#   PYTHON         interpreter for the environment, 3.11 or newer (default: python3)
#
# lab.env, written at start, is for sourcing: endpoints, credentials, machines. Ports are free ones, new at each start
# (kept with LAB_KEEP=1). The environment is in ${XDG_CACHE_HOME:-~/.cache}/bmo, named after constraints.txt, so that a
# change of versions builds a new one.
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
DIR=${BMO_LAB_DIR:-$(cd "$HERE/../.." && pwd)/target/ironic-lab}
VENV=${XDG_CACHE_HOME:-$HOME/.cache}/bmo/ironic-venv-$(cat "$HERE/constraints.txt" "$HERE/requirements.txt" | sha256sum | cut -c1-12)
PYTHON=${PYTHON:-python3}
PARTS=(http redfish ipmi ironic agent count)                                             # in the order of their start
PACKAGES=(genisoimage:genisoimage mkfs.vfat:dosfstools ipmitool:ipmitool) # command:Debian package

say() { echo "lab: $*" >&2; }
die() { say "$*"; exit 1; }

packages() {
  local pair missing=() sudo=()
  for pair in "${PACKAGES[@]}"; do
    [ -n "$(PATH=$PATH:/usr/sbin:/sbin type -p "${pair%%:*}")" ] || missing+=("${pair#*:}")
  done
  if [ ${#missing[@]} = 0 ]; then return; fi
  command -v apt-get > /dev/null || die "please install ${missing[*]}: Ironic builds boot images and talks IPMI with them"
  say "installing Debian packages: ${missing[*]}"
  [ "$(id -u)" = 0 ] || sudo=(sudo)
  { "${sudo[@]}" apt-get update -qq && DEBIAN_FRONTEND=noninteractive "${sudo[@]}" apt-get -qq -o DPkg::Lock::Timeout=300 install -y \
    --no-install-recommends "${missing[@]}"; } > /dev/null || die "apt-get could not install ${missing[*]}; please install them"
}

environment() {
  [ ! -f "$VENV/complete" ] || return 0
  "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null ||
    die "Ironic needs Python 3.11 or newer; $("$PYTHON" --version 2>&1 || true) is what PYTHON=$PYTHON names"
  mkdir -p "$(dirname "$VENV")"; exec 9> "$VENV.lock"; flock 9
  if [ ! -f "$VENV/complete" ]; then
    say "installing Ironic from PyPI into $VENV (about a minute)"; local began=$SECONDS
    rm -rf "$VENV"; "$PYTHON" -m venv "$VENV" || die "python3 -m venv failed (Debian: package python3-venv)"
    "$VENV/bin/pip" install --quiet --disable-pip-version-check -c "$HERE/constraints.txt" -r "$HERE/requirements.txt" >&2 ||
      die "pip could not install Ironic"
    touch "$VENV/complete"; say "installed in $((SECONDS - began)) s"
  fi
  exec 9>&-
}

install() { packages; environment; }

busy() { (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; }

pick_ports() { # six free ports in a row, below the kernel's range for outgoing connections
  local p i
  if [ "${LAB_KEEP:-0}" = 1 ] && [ -f port ]; then return; fi
  for _ in $(seq 200); do
    p=$((12000 + (RANDOM * 32768 + RANDOM) % 8000))
    for i in 0 1 2 3 4 5; do if busy $((p + i)); then continue 2; fi; done
    echo $p > port; return
  done
  die "found no six free ports in a row between 12000 and 20000"
}

ports() {
  local p; p=$(cat "$DIR/port")
  IRONIC_PORT=$p COUNT_PORT=$((p + 1)) REDFISH_PORT=$((p + 2)) IPMI_PORT=$((p + 3)) HTTP_PORT=$((p + 4)) AGENT_PORT=$((p + 5))
}

lay_out() {
  mkdir -p "$DIR"; cd "$DIR"; umask 077
  if [ "${LAB_KEEP:-0}" != 1 ]; then rm -rf -- http tmp log bmc-state ironic.sqlite* iso_master instance_master images tftpboot requests.log port; fi
  mkdir -p log/deploy http tmp bmc-state iso_master instance_master images tftpboot/master_images certs
  pick_ports; ports
  [ -f http/image.qcow2 ] || "$VENV/bin/python" "$HERE/lab/artefacts.py" http bmc-htpasswd
  if [ ! -f http/esp.img ]; then # the boot image's EFI partition: Ironic copies its own files into it
    head -c 1474560 /dev/zero > http/esp.img; PATH=$PATH:/usr/sbin:/sbin mkfs.vfat http/esp.img > /dev/null
  fi
  sed -e "s|@DIR@|$DIR|g; s|@IRONIC_PORT@|$IRONIC_PORT|g; s|@HTTP_PORT@|$HTTP_PORT|g" "$HERE/ironic.conf.in" > ironic.conf
}

spawn() { local n=$1; shift; setsid "$@" > "log/$n.out" 2>&1 < /dev/null & echo $! > "$n.pid"; }

# a pid file may be older than the machine's last start: the process must be one of this lab
running() { [ -f "$1.pid" ] && [ "$(readlink "/proc/$(cat "$1.pid")/cwd" 2> /dev/null)" = "$DIR" ]; }

get() { curl -sf --max-time 5 -o /dev/null "$@"; }
answers() { # answers PART: it serves, not only listens
  case $1 in
    http) get "http://127.0.0.1:$HTTP_PORT/image.qcow2.sha256" ;;
    redfish) get -u admin:password "http://127.0.0.1:$REDFISH_PORT/redfish/v1/Systems" ;;
    ipmi) ipmitool -I lanplus -C 3 -H 127.0.0.1 -p "$IPMI_PORT" -U admin -P password -N 1 -R 1 power status > /dev/null 2>&1 ;;
    ironic | count) # drivers are listed when the conductor is there too
      local port=$IRONIC_PORT; [ "$1" = ironic ] || port=$COUNT_PORT
      curl -sf --max-time 5 -H 'X-OpenStack-Ironic-API-Version: 1.109' "http://127.0.0.1:$port/v1/drivers" 2> /dev/null | grep -q '"redfish"' ;;
    agent) get "http://127.0.0.1:$AGENT_PORT/_ctl/rules" ;;
  esac
}

await() { # await PART SECONDS
  local end=$((SECONDS + $2))
  until answers "$1"; do
    if ! running "$1" || [ $SECONDS -ge $end ]; then
      say "$1 $(running "$1" && echo "does not answer after $2 s" || echo ended). Its last lines:"
      tail -n 20 "log/$1.out" >&2; if [ "$1" = ironic ]; then grep -hE ' (ERROR|CRITICAL) ' log/ironic.log 2> /dev/null | tail -n 20 >&2 || true; fi
      stop_all; die "not started; logs are in $DIR/log"
    fi
    sleep 0.1
  done
}

start() {
  install; mkdir -p "$DIR"; cd "$DIR"
  if all_running; then ports; say "already running"; endpoints; return; fi
  stop_all; lay_out
  local began=$SECONDS py=$VENV/bin/python
  export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
  spawn http "$py" -m http.server "$HTTP_PORT" --bind 127.0.0.1 --directory http
  spawn redfish "$py" "$HERE/lab/redfish_bmc.py" "$REDFISH_PORT" "$DIR/bmc-state" "$DIR/bmc-htpasswd"
  spawn ipmi "$py" "$HERE/lab/ipmi_bmc.py" "$IPMI_PORT"
  local schema=create_schema; [ ! -f ironic.sqlite ] || schema=upgrade
  "$VENV/bin/ironic-dbsync" --config-file ironic.conf $schema > log/dbsync.out 2>&1 || { tail -n 20 log/dbsync.out >&2; stop_all; die "Ironic's database"; }
  PATH=$PATH:/usr/sbin:/sbin spawn ironic "$py" "$HERE/lab/ironic_process.py" --config-file ironic.conf
  spawn count "$py" "$HERE/lab/count_proxy.py" "$COUNT_PORT" "$IRONIC_PORT" requests.log
  IRONIC_URL=http://127.0.0.1:$IRONIC_PORT AGENT_PORT=$AGENT_PORT spawn agent "$py" "$HERE/lab/agent.py"
  local part; for part in "${PARTS[@]}"; do await "$part" 60; done
  : > requests.log
  write_env; say "all parts answer after $((SECONDS - began)) s"; endpoints
}

write_env() {
  local n machines; machines=$(PYTHONPATH=$HERE/lab "$VENV/bin/python" -c \
    'import machines as m; print(" ".join(f"{m.system_id(n)}={m.mac(n)}" for n in range(m.REDFISH_MACHINES)))')
  n=http://127.0.0.1:$HTTP_PORT
  cat > lab.env << E
# Where the lab's parts are; written by lab.sh start.
LAB_DIR='$DIR'
LAB_PYTHON='$VENV/bin/python'
# Ironic itself, and the proxy that writes a line per request into COUNT_LOG
IRONIC_ENDPOINT=http://127.0.0.1:$IRONIC_PORT/v1/
IRONIC_COUNT_ENDPOINT=http://127.0.0.1:$COUNT_PORT/v1/
COUNT_LOG='$DIR/requests.log'
# BMC addresses: append a system id. MACHINES has them with their boot MAC address, id=mac
REDFISH_URL=http://127.0.0.1:$REDFISH_PORT
REDFISH_ADDRESS_PREFIX=redfish-virtualmedia+http://127.0.0.1:$REDFISH_PORT/redfish/v1/Systems/
MACHINES='$machines'
IPMI_ADDRESS=ipmi://127.0.0.1:$IPMI_PORT
IPMI_MAC=52:54:00:b0:00:14
BMC_USERNAME=admin
BMC_PASSWORD=password
IMAGE_URL=$n/image.qcow2
IMAGE_SHA256=$(cut -d' ' -f1 http/image.qcow2.sha256)
IMAGE_SHA256_URL=$n/image.qcow2.sha256
OTHER_IMAGE_URL=$n/other.qcow2
OTHER_IMAGE_SHA256=$(cut -d' ' -f1 http/other.qcow2.sha256)
LIVE_ISO_URL=$n/live.iso
DEPLOY_KERNEL_URL=$n/ipa.kernel
DEPLOY_RAMDISK_URL=$n/ipa.initramfs
# the machines' agent: what it deployed, and orders to fail (see lab/agent.py)
AGENT_CONTROL_URL=http://127.0.0.1:$AGENT_PORT/_ctl
E
}

endpoints() {
  echo "Ironic      http://127.0.0.1:$IRONIC_PORT/v1/ (counted: http://127.0.0.1:$COUNT_PORT/v1/)"
  echo "Redfish     http://127.0.0.1:$REDFISH_PORT (admin, password)     IPMI 127.0.0.1:$IPMI_PORT"
  echo "image       http://127.0.0.1:$HTTP_PORT/image.qcow2"
  echo "agent       http://127.0.0.1:$AGENT_PORT/_ctl/machines"
  echo "environment $DIR/lab.env"
}

all_running() { local part; for part in "${PARTS[@]}"; do running "$part" || return 1; done; }

stop_all() { # Ironic last but quickly: its conductor waits for running tasks otherwise
  local part p
  for part in agent count ironic ipmi redfish http; do
    if running "$part"; then
      p=$(cat "$part.pid"); kill "$p" 2> /dev/null || true
      for _ in $(seq 50); do running "$part" || break; sleep 0.1; done
      if running "$part"; then kill -KILL -- "-$p" 2> /dev/null || true; fi
    fi
    rm -f "$part.pid"
  done
}

stop() { [ -d "$DIR" ] || { say "nothing to stop"; return; }; cd "$DIR"; stop_all; say "stopped; logs are in $DIR/log"; }

status() {
  [ -d "$DIR" ] || { echo "not started: $DIR does not exist"; exit 1; }
  cd "$DIR"; local part
  for part in "${PARTS[@]}"; do if running "$part"; then echo "$part: process $(cat "$part.pid")"; else echo "$part: not running"; fi; done
  all_running || exit 1
  ports; endpoints
}

case "${1:-}" in
  install | start | stop | status) "$1" ;;
  *) sed -n '2,/^set -/p' "${BASH_SOURCE[0]}" | sed '$d; s/^# \{0,1\}//'; exit 2 ;;
esac
