#!/usr/bin/env bash
# Rebuilds engine.wasm and engine.wasm.sha256 from the sources in this folder. The same inputs give the same bytes.
#
#   capabilities/engine/build.sh           build and write both files
#   capabilities/engine/build.sh --check   build and compare with the files that are there
#
# quickjs-ng's C files come from the crate rquickjs-sys, locked in snapshot/Cargo.lock; the URL polyfill from npm, locked
# in url/package-lock.json. Everything is built in a temporary folder.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
CLANG=${CLANG:-clang-22}

missing=()
for tool in "$CLANG" wasm-ld-22 node npm cargo sha256sum; do
    command -v "$tool" >/dev/null || missing+=("$tool")
done
[ -f /usr/lib/wasm32-wasi/libc.a ] || missing+=("wasi-libc")
[ -n "$(find /usr/lib/llvm-22/lib/clang -name 'libclang_rt.builtins*wasm32*' -o -path '*wasm32*' -name 'libclang_rt.builtins*' 2>/dev/null)" ] ||
    missing+=("libclang-rt-22-dev-wasm32")
if [ ${#missing[@]} -gt 0 ]; then
    echo "missing: ${missing[*]}" >&2
    echo "on Debian 12: apt-get install --no-install-recommends clang-22 lld-22 libclang-rt-22-dev-wasm32 wasi-libc nodejs npm" >&2
    exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$here"/shim.c "$here"/prelude.js "$here"/url "$here"/snapshot "$work"
cd "$work"

echo "== quickjs-ng, out of the crate rquickjs-sys"
cargo metadata --quiet --locked --all-features --format-version 1 --manifest-path snapshot/Cargo.toml > metadata.json
crate=$(node -p '
    const { packages } = JSON.parse(require("fs").readFileSync("metadata.json"));
    require("path").dirname(packages.find((one) => one.name === "rquickjs-sys").manifest_path)')
cp -r "$crate/quickjs" .

echo "== the prelude: URL polyfill, then prelude.js, as one C array"
(cd url && npm ci --silent --no-audit --no-fund --ignore-scripts &&
    npx --no-install esbuild url.js --bundle --minify --format=iife --target=es2022 --legal-comments=none --log-level=warning --outfile=../url.bundle.js)
node -e '
    const fs = require("fs");
    const bytes = Buffer.concat([fs.readFileSync("url.bundle.js"), Buffer.from(";\n"), fs.readFileSync("prelude.js")]);
    const array = [...bytes, 0].map((byte) => (byte < 128 ? byte : byte - 256)).join(",");
    fs.writeFileSync("prelude.h",
        `static const char prelude_source[] = {${array}};\nstatic const unsigned prelude_length = ${bytes.length};\n`);'

echo "== the core module"
stack=1048576 # STACK_SIZE in shim.c
flags=(--target=wasm32-wasip1 --sysroot=/usr -isystem /usr/include/wasm32-wasi -O2 -mbulk-memory -fno-strict-aliasing -w
    -D_GNU_SOURCE -DNDEBUG -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_PROCESS_CLOCKS -Iquickjs)
for file in shim.c quickjs/dtoa.c quickjs/libregexp.c quickjs/libunicode.c; do
    "$CLANG" "${flags[@]}" -c "$file" -o "$(basename "$file" .c).o"
done
"$CLANG" --target=wasm32-wasip1 -O2 -nostartfiles -L/usr/lib/wasm32-wasi -fuse-ld=lld shim.o dtoa.o libregexp.o libunicode.o \
    -Wl,--no-entry -Wl,--gc-sections -Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=$stack \
    -Wl,--export=source_slot -o engine.raw.wasm

echo "== started, then snapshotted"
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$work/target} cargo run --quiet --locked --release --manifest-path snapshot/Cargo.toml -- \
    engine.raw.wasm engine.wasm
sha256sum engine.wasm > engine.wasm.sha256

if [ "${1:-}" = --check ]; then
    cmp engine.wasm "$here/engine.wasm"
    cmp engine.wasm.sha256 "$here/engine.wasm.sha256"
    echo "the committed engine is exactly what these sources give"
else
    cp engine.wasm engine.wasm.sha256 "$here"
    ls -l "$here/engine.wasm"
fi
