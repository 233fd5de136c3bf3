#!/usr/bin/env bash
# Builds the Python component from the files beside this one: capabilities/python/build.sh OUT
#
# The tool comes from PyPI, in the version and with the hashes of requirements.txt, into an environment of its own that is removed again.
# `level3 python install` runs this, and scripts/python-component does for the tests.
set -euo pipefail
out=${1:?usage: build.sh OUT}
here=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
  printf 'build.sh: %s\n' "$*" >&2
  exit 1
}

command -v python3 >/dev/null || fail "there is no python3; install it (Debian: apt-get install python3 python3-venv)"
python3 -c 'import ensurepip' 2>/dev/null || fail "python3 cannot make environments; install python3-venv (Debian: apt-get install python3-venv)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r "$here/requirements.txt" ||
  fail "componentize-py could not be fetched from PyPI; on a machine without it, take a component that was built elsewhere: level3 python install --file FILE"
mkdir "$work/app"
cp "$here/app.py" "$here/python.wit" "$work/app"
cd "$work/app"
# --stub-wasi: what would be a call of WASI ends the instance, so nothing but `log` and `http` is imported.
PYTHONHASHSEED=0 "$work/venv/bin/componentize-py" -q -d python.wit -w script componentize --stub-wasi app -o python.wasm >/dev/null ||
  fail "componentize-py failed; its words are above"
# Last, and in one step: only what is whole counts as there.
mv python.wasm "$out.new"
mv "$out.new" "$out"
