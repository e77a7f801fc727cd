#!/usr/bin/env bash
# Builds the out-of-tree Rust plugin with another compiler than the operator's (Debian's rustc-web), and loads it with
# the operator's host. Prints the plugin's path as its last line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

rustc=/usr/bin/rustc cargo=/usr/bin/cargo
if [ ! -x $rustc ] || [ ! -x $cargo ]; then
  if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
    echo "missing: $rustc, $cargo; install Debian's rustc-web and cargo-web (as root: apt-get install rustc-web cargo-web)" >&2
    exit 1
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends rustc-web cargo-web >/dev/null
fi

theirs=$($rustc --version | cut -d' ' -f2)
ours=$(rustc --version | cut -d' ' -f2)
if [ "$theirs" = "$ours" ]; then
  echo "$rustc has the version of the operator's compiler ($ours); this test needs another" >&2
  exit 1
fi
echo "plugin by rustc $theirs, operator by rustc $ours" >&2

target="${CARGO_TARGET_DIR:-target}/other-rustc"
mkdir -p "$target"
target=$(cd "$target" && pwd)
RUSTC=$rustc RUSTUP_TOOLCHAIN='' CARGO_TARGET_DIR="$target" \
  $cargo build --quiet --locked --manifest-path examples/out-of-tree/rust/Cargo.toml
plugin="$target/plugins/rustdemo-provisioner.so"
mkdir -p "$target/plugins"
cp "$target/debug/librustdemo_provisioner.so" "$plugin.new"
mv "$plugin.new" "$plugin"

report=$(BMO_TEST_PLUGINS="$plugin" cargo test --quiet --locked --test out_of_tree --test whole_life -- \
  --ignored --nocapture the_named_plugins)
echo "$report" >&2
grep -q "built with: *rustc $theirs" <<<"$report"
echo "$plugin"
