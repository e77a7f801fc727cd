#!/usr/bin/env bash
# Everything that needs no service beyond what it installs itself: unit and scenario tests, the shipped plugins,
# a C plugin and a plugin built by another Rust, both in the official binary, kubectl against the embedded API.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export BMO_ALL_TARGETS=1 # as the tests are built, so that nothing is built twice
cargo xtask plugins
cargo test --workspace --locked "$@"
test/plugins/out-of-tree.sh
