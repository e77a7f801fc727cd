#!/usr/bin/env bash
# The plugins of examples/out-of-tree, built as their authors would and loaded by the operator: the one in C, the one
# in Rust by the operator's compiler (with its own tests) and by another, and the one of the guide, docs/plugins.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

target="${CARGO_TARGET_DIR:-target}/out-of-tree"
mkdir -p "$target/plugins"
target=$(cd "$target" && pwd)

make -s -C examples/out-of-tree/c BUILD="$target/plugins"
CARGO_TARGET_DIR="$target" cargo test --quiet --locked --manifest-path examples/out-of-tree/rust/Cargo.toml
CARGO_TARGET_DIR="$target" cargo build --quiet --locked --manifest-path examples/out-of-tree/rust/Cargo.toml
cp "$target/debug/librustdemo_provisioner.so" "$target/plugins/rustdemo-provisioner.so.new"
mv "$target/plugins/rustdemo-provisioner.so.new" "$target/plugins/rustdemo-provisioner.so"
lab=$(test/plugins/guide.sh "$target" | tail -n 1)

BMO_TEST_PLUGINS="$target/plugins/cdemo-provisioner.so:$target/plugins/rustdemo-provisioner.so:$lab" \
  cargo test --quiet --locked --test out_of_tree --test whole_life -- --ignored --nocapture the_named_plugins
other=$(test/plugins/other-rustc.sh | tail -n 1)

# In the official binary: a host of each to provisioned.

test/plugins/in-the-binary.sh "$target/plugins/cdemo-provisioner.so" "$other"

