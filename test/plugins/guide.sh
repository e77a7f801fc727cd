#!/usr/bin/env bash
# Does what docs/plugins.md tells an author to do, with the very text of the page, and builds the plugin of README.md.
# Prints the path of the guide's plugin as its last line. $1: a target directory for cargo.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD target=${1:?usage: guide.sh <target directory>}

# The first fenced block of a language after the heading.
block() { awk -v lang="\`\`\`$1" '/^## Write one in an hour/{on=1} on&&$0==lang{take=1;next} take&&/^```/{exit} take' docs/plugins.md; }

# The plugin of the README.
readme() { awk '$0=="```rust"{take=1;next} take&&/^```/{exit} take' "$root/README.md"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lab-provisioner/src"
block toml | sed "s|\"../bmo/|\"$root/|" >"$work/lab-provisioner/Cargo.toml"
block rust >"$work/lab-provisioner/src/lib.rs"
cp examples/out-of-tree/rust/Cargo.lock "$work/lab-provisioner/"
cd "$work/lab-provisioner"
export CARGO_TARGET_DIR="$target"
cargo test --quiet --offline >&2
guide=$(<src/lib.rs)
readme >src/lib.rs
cargo check --quiet --offline
printf '%s\n' "$guide" >src/lib.rs
cargo build --quiet --offline
mkdir -p "$target/plugins"
cp "$target/debug/liblab_provisioner.so" "$target/plugins/lab-provisioner.so"
echo "$target/plugins/lab-provisioner.so"
