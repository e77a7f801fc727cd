#!/usr/bin/env bash
# Formatting, clippy, drift of generated files, dependency rules, syntax of scripts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cargo fmt --all --check
(cd examples/out-of-tree/rust && cargo fmt --check)
cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
cargo xtask crds --check
cargo xtask schemas --check
cargo xtask deps
git ls-files -z '*.sh' .ci/run | xargs -0 -n1 bash -n
git ls-files -z '*.py' | xargs -0 python3 -m py_compile
if git grep -nE '\b(TODO|FIXME|XXX)\b' -- '*.rs' '*.sh' '*.py' ':!test/lint.sh'; then
  echo "lint: the lines above are left open" >&2
  exit 1
fi
echo "lint: clean"
