#!/usr/bin/env bash
# Installs what building and testing need and this machine lacks: Debian packages and the toolchain's components.
# Python packages, kubectl and the Kubernetes binaries are installed by the scripts that use them.
set -euo pipefail

need=()
want() { command -v "$1" >/dev/null || need+=("$2"); }
want cc gcc
want make make
want git git
want curl curl
want openssl openssl
want python3 python3
want mkisofs genisoimage
want mkfs.vfat dosfstools
want ipmitool ipmitool
python3 -c 'import venv, ensurepip' 2>/dev/null || need+=(python3-venv)
if [ ${#need[@]} -gt 0 ]; then
  if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
    echo "missing: ${need[*]}; install these packages (as root on Debian: apt-get install ${need[*]})" >&2
    exit 1
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${need[@]}" >/dev/null
fi

if ! command -v cargo >/dev/null; then
  echo "cargo is missing: install Rust 1.95 or newer with rustup, then run this again" >&2
  exit 1
fi
cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
cargo clippy --version >/dev/null 2>&1 || rustup component add clippy
test/kube/kube.sh check
cargo --version
