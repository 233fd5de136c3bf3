#!/usr/bin/env bash
# Sets level3 up and runs it, supervised; or sets its tests up and runs them. `./run.sh help` says how.
#
# Overrides, for tests and for packagers:
#   LEVEL3_BIN            run this program instead of building one; nothing is installed or built then
#   LEVEL3_RESTART_PAUSE  the first pause after a crash in whole seconds (1); it doubles up to 30; 0 means no pauses
#
# Written for bash 3.2, which is what macOS has.
set -euo pipefail

readonly SAFE_AFTER=3   # crashes in a row of a server that had been ready before safe mode
readonly STEADY=60      # seconds after which a run counts as good and earlier crashes are forgotten
readonly LONGEST=30     # seconds of the longest pause
readonly POSTGRES_FLOOR=15

say() { printf 'run.sh: %s\n' "$*" >&2; }

die() {
  say "$@"
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

usage() {
  cat <<'END'
usage: ./run.sh               build level3, bring up what it needs, serve http://127.0.0.1:8000
       ./run.sh test [ARG…]   install what the tests need and run them all; ARG goes to `cargo test`
       ./run.sh test-channels [ARG…]   run the tests of channels/whatsapp, which is built first (minutes, and 2 GB of memory)
       ./run.sh help          this text

Settings come from the environment and from the file .env: docs/operations.md lists them.
Exit codes: 0 stopped; 78 the server cannot start until something is changed, its words say what; 1 something is missing; 2 wrong use of run.sh;
after a signal, the server's own code.
END
}

# ---------------------------------------------------------------------------------------------------------------------
# What has to be on the machine.

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif have sudo; then
    sudo "$@"
  else
    say "this needs root and there is no sudo: $*"
    return 1
  fi
}

# The system's package manager, or nothing.
manager() {
  local name
  for name in apt-get dnf pacman apk zypper brew; do
    if have "$name"; then
      echo "$name"
      return
    fi
  done
}

# add MANAGER PACKAGE…
add() {
  local with=$1
  shift
  say "installing with $with: $*"
  case "$with" in
    apt-get)
      as_root apt-get update -qq &&
        as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
      ;;
    dnf) as_root dnf install -y "$@" ;;
    pacman) as_root pacman -Sy --needed --noconfirm "$@" ;;
    apk) as_root apk add "$@" ;;
    zypper) as_root zypper --non-interactive install "$@" ;;
    brew) brew install "$@" ;;
  esac
}

# The value of a setting, from the environment or from .env; an empty one counts as unset. The server reads .env itself.
setting() {
  local value=${!1:-}
  if [ -z "$value" ] && [ -f .env ]; then
    value=$(sed -n "s/^[[:space:]]*\(export[[:space:]]\{1,\}\)\{0,1\}$1[[:space:]]*=[[:space:]]*//p" .env | tail -n 1)
    case "$value" in \#*) value='' ;; esac
    value=${value#[\"\']}
    value=${value%[\"\']}
  fi
  printf '%s' "$value"
}

# The folder of Postgres' server binaries, the newest that is new enough; or nothing.
postgres_bin() {
  local given folder major best='' best_major=0
  given=$(setting LEVEL3_POSTGRES_BIN)
  if [ -n "$given" ]; then
    echo "$given"
    return
  fi
  local folders=()
  local path_folder
  while IFS= read -r path_folder; do
    [ -n "$path_folder" ] && folders+=("$path_folder")
  done <<END
$(printf '%s' "$PATH" | tr ':' '\n')
END
  # The same places as the server looks in (src/postgres/embedded/binaries.rs).
  for folder in "${folders[@]}" /usr/lib/postgresql/*/bin /usr/pgsql-*/bin \
    /opt/homebrew/opt/postgresql*/bin /usr/local/opt/postgresql*/bin; do
    if [ ! -x "$folder/postgres" ] || [ ! -x "$folder/initdb" ]; then continue; fi
    major=$("$folder/postgres" --version 2>/dev/null | sed -n 's/^[^0-9]*\([0-9]\{1,\}\).*/\1/p') || continue
    if [ "${major:-0}" -ge "$POSTGRES_FLOOR" ] && [ "$major" -gt "$best_major" ]; then
      best=$folder best_major=$major
    fi
  done
  printf '%s' "$best"
}

no_postgres() {
  die "level3 needs the server binaries of Postgres $POSTGRES_FLOOR or newer: $1. Install them by hand" \
    "(https://www.postgresql.org/download/), or set LEVEL3_POSTGRES_BIN to their folder, or DATABASE_URL to a Postgres that runs."
}

need_postgres() {
  local with
  if [ -n "$(postgres_bin)" ]; then
    say "Postgres: $(postgres_bin)"
    return
  fi
  with=$(manager)
  say "no server binaries of Postgres $POSTGRES_FLOOR or newer were found; level3 runs its own private one in its data folder"
  case "$with" in
    apt-get)
      if ! dpkg-query -W -f '${db:Status-Status}' postgresql-common 2>/dev/null | grep -q '^installed'; then
        add apt-get postgresql-common || no_postgres "apt-get failed, its words are above"
        say "telling Debian's packaging to make and start no database of its own (/etc/postgresql-common/createcluster.conf)"
        as_root sh -c 'echo "create_main_cluster = false" >>/etc/postgresql-common/createcluster.conf'
      fi
      add apt-get postgresql || no_postgres "apt-get failed, its words are above"
      ;;
    dnf | zypper) add "$with" postgresql-server || no_postgres "$with failed, its words are above" ;;
    pacman | apk) add "$with" postgresql || no_postgres "$with failed, its words are above" ;;
    brew) add brew postgresql@17 || no_postgres "brew failed, its words are above" ;;
    *) no_postgres "no package manager known here was found" ;;
  esac
  [ -n "$(postgres_bin)" ] || no_postgres "what $with installed is older or elsewhere"
  say "Postgres: $(postgres_bin)"
}

need_rust() {
  if ! have cargo && [ -x "${HOME:-}/.cargo/bin/cargo" ]; then
    PATH="$HOME/.cargo/bin:$PATH"
  fi
  if ! have cargo; then
    die "level3 is built with Rust, and there is no cargo here. Get it from https://rustup.rs, open a new shell, start ./run.sh again."
  fi
  if ! have cc; then
    die "building needs a C compiler (cc): install build-essential (Debian, Ubuntu), gcc (Fedora, Arch, openSUSE)," \
      "build-base (Alpine), or run: xcode-select --install (macOS)."
  fi
}

find_chromium() {
  local name
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    if have "$name"; then return 0; fi
  done
  [ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ] || [ -x "/Applications/Chromium.app/Contents/MacOS/Chromium" ]
}

need_chromium() {
  local with packages
  if find_chromium && have chromedriver; then return; fi
  say "the browser stories need Chromium and its chromedriver; at least one of them is missing"
  with=$(manager)
  case "$with" in
    apt-get) packages='chromium chromium-driver' ;;
    dnf | zypper) packages='chromium chromedriver' ;;
    pacman) packages='chromium' ;;
    apk) packages='chromium chromium-chromedriver' ;;
    brew) packages='--cask chromium chromedriver' ;;
    *) packages='' ;;
  esac
  # shellcheck disable=SC2086 # a list of words
  if [ -z "$packages" ] || ! add "$with" $packages || ! find_chromium || ! have chromedriver; then
    die "Chromium and chromedriver could not be installed. Put both on PATH by hand; or run \`cargo test\`," \
      "which skips the browser stories and says so."
  fi
}

# A display without a screen. False: there is none, and it cannot be had.
need_xvfb() {
  local with package
  if have Xvfb; then return; fi
  with=$(manager)
  case "$with" in
    apt-get | apk) package=xvfb ;;
    dnf | zypper) package=xorg-x11-server-Xvfb ;;
    pacman) package=xorg-server-xvfb ;;
    *) return 1 ;;
  esac
  add "$with" "$package" && have Xvfb
}

# ---------------------------------------------------------------------------------------------------------------------
# Supervision.

child=''      # the server, while there is one
napper=''     # the `sleep` of a pause, while there is one
asked=''      # the first signal that asked us to stop
signals=0     # how many signals came
delivered=0   # how many of them the server got
ready=''      # the file that the server writes once it is ready; none where none can be made

forward() {
  local name=$1
  if [ "$name" = HUP ]; then name=TERM; fi
  kill -s "$name" "$child" 2>/dev/null || true
}

# A signal goes to the server, the second one too: what it does with it is its affair. A closed terminal (HUP) is an order to stop
# in good order, so the server gets TERM for it. During a pause a signal ends the pause.
on_signal() {
  signals=$((signals + 1))
  asked=${asked:-$1}
  if [ -n "$child" ]; then
    forward "$1"
    delivered=$signals
  elif [ -n "$napper" ]; then
    kill "$napper" 2>/dev/null || true
  fi
}

# Starts the server and waits for it; its exit code is left in `code`.
run_once() {
  local before again
  code=0
  if [ -n "$ready" ]; then : >"$ready"; fi
  # Job control gives the server a process group of its own: Ctrl-C in a terminal then reaches it once, through us.
  set -m
  if [ -n "$safe" ]; then
    LEVEL3_READY_FILE=$ready LEVEL3_SAFE_MODE=1 "$program" serve </dev/null &
  else
    LEVEL3_READY_FILE=$ready "$program" serve </dev/null &
  fi
  child=$!
  set +m
  # A signal that came before `child` was known is delivered now.
  if [ -n "$asked" ] && [ "$delivered" -lt "$signals" ]; then
    forward "$asked"
  fi
  before=$signals
  wait "$child" 2>/dev/null || code=$?
  # A signal to us ends `wait` before the server ends. 127: bash had already told the code.
  while [ "$signals" -ne "$before" ]; do
    before=$signals
    again=0
    wait "$child" 2>/dev/null || again=$?
    [ "$again" -eq 127 ] || code=$again
  done
  child=''
}

nap() {
  if [ "$1" -eq 0 ] || [ -n "$asked" ]; then return; fi
  sleep "$1" &
  napper=$!
  # A signal that came before `napper` was known must not have to wait.
  if [ -n "$asked" ]; then kill "$napper" 2>/dev/null || true; fi
  wait "$napper" 2>/dev/null || true
  kill "$napper" 2>/dev/null || true
  napper=''
}

# 128 plus the number of the signal, as shells do.
code_of() {
  case "$1" in
    HUP) echo 129 ;;
    INT) echo 130 ;;
    QUIT) echo 131 ;;
    *) echo 143 ;;
  esac
}

supervise() {
  local crashes=0 of_ready=0 how pause began ran
  local first=${LEVEL3_RESTART_PAUSE:-1}
  program=$1
  safe=''
  case "$first" in
    *[!0-9]* | ????*) die "LEVEL3_RESTART_PAUSE is \`$first\`: expected a whole number of seconds" ;;
  esac
  # A file and not an exit code: a server that the system kills says nothing more.
  if ready=$(mktemp "${TMPDIR:-/tmp}/level3-ready.XXXXXX"); then
    trap 'rm -f "$ready"' EXIT
  else
    ready=''
    say "no temporary file can be made, so nothing will tell whether the server was ready: there is no safe mode in this run"
  fi
  for name in TERM INT HUP QUIT; do
    # shellcheck disable=SC2064 # the name of now is meant
    trap "on_signal $name" "$name"
  done

  while :; do
    began=$SECONDS
    run_once
    ran=$((SECONDS - began))

    if [ -n "$asked" ]; then
      # Asked to stop: whatever the server answered is our answer; a restart it wished for is not one.
      [ "$code" -ne 42 ] || code=0
      say "stopped by SIG$asked, exit code $code"
      exit "$code"
    fi
    case "$code" in
      0)
        say "stopped"
        exit 0
        ;;
      42)
        say "restart asked for: starting again"
        crashes=0 of_ready=0 safe=''
        continue
        ;;
      78)
        say "stopped: the server cannot start until something is changed, its words are above; restarting would not help"
        exit 78
        ;;
      126 | 127)
        say "stopped: $program cannot be run (exit code $code)"
        exit "$code"
        ;;
    esac

    if [ "$ran" -ge "$STEADY" ]; then crashes=0 of_ready=0; fi
    crashes=$((crashes + 1))
    how="crashed with exit code $code"
    if [ -n "$ready" ] && [ -s "$ready" ]; then
      of_ready=$((of_ready + 1))
    else
      # No capability has run yet, so leaving them out would mend nothing.
      how="$how before it was ready"
    fi
    pause=$first
    for ((i = 1; i < crashes && pause < LONGEST; i++)); do pause=$((pause * 2)); done
    if [ "$pause" -gt "$LONGEST" ]; then pause=$LONGEST; fi
    safe=''
    if [ "$of_ready" -ge "$SAFE_AFTER" ]; then
      safe=1
      say "$how, $crashes times in a row: starting in safe mode, without capabilities, in $pause s"
    else
      say "$how: starting again in $pause s"
    fi
    nap "$pause"
    if [ -n "$asked" ]; then
      say "stopped by SIG$asked during the pause"
      exit "$(code_of "$asked")"
    fi
  done
}

# ---------------------------------------------------------------------------------------------------------------------

serve() {
  if [ -n "${LEVEL3_BIN:-}" ]; then
    [ -x "$LEVEL3_BIN" ] || die "LEVEL3_BIN is \`$LEVEL3_BIN\`: expected a program"
    supervise "$LEVEL3_BIN"
  fi
  need_rust
  if [ -n "$(setting DATABASE_URL)" ]; then
    say "Postgres: the one DATABASE_URL names"
  else
    need_postgres
  fi
  say "building level3 (minutes the first time, seconds later)"
  cargo build --release --locked
  local target
  target=$(target_folder)
  say "serving; Ctrl-C stops"
  supervise "$target/release/level3"
}

# Where cargo puts what it builds: CARGO_TARGET_DIR and cargo's own settings may say another folder than ./target. Arguments go to cargo.
target_folder() {
  cargo metadata --locked --no-deps --format-version 1 "$@" | sed -n 's/.*"target_directory":"\([^"]*\)".*/\1/p'
}

run_tests() {
  need_rust
  need_postgres
  need_chromium
  need_xvfb || say "NOT RUN: the stories of the operator's screen, which Xvfb shows; it could not be installed"
  have espeak-ng || add "$(manager)" espeak-ng || say "NOT RUN: the stories of real speech, which espeak-ng speaks; it could not be installed"
  scripts/peers || say "NOT RUN: stories of programs from PyPI that could not be installed; the reason is above"
  scripts/python-component || say "NOT RUN: the stories of campaigns' Python scripts, whose component could not be built; the reason is above"
  say "running: cargo test --locked $*"
  cargo test --locked "$@"
}

# The programs in channels/ are packages of their own (channels/whatsapp/README.md says why), so `cargo test` does not reach them. Their stories
# mostly wait, each for its own program: many at a time. Some run level3 itself, whose clock only a debug build lets them turn.
test_channels() {
  local target whatsapp=channels/whatsapp/Cargo.toml
  need_rust
  need_postgres
  need_xvfb || die "the story about the screen needs Xvfb, which could not be installed: put it on PATH by hand"
  say "building level3, then building and testing channels/whatsapp: minutes the first time"
  # First as users build it, without what is for the stories alone.
  cargo build --locked --manifest-path "$whatsapp"
  target=$(target_folder --manifest-path "$whatsapp")
  if grep -qa LEVEL3_WHATSAPP_SERVER "$target/debug/level3-whatsapp"; then
    die "a build of channels/whatsapp without the feature test-server reads LEVEL3_WHATSAPP_SERVER"
  fi
  cargo build --locked --bin level3 --bin relay
  target=$(target_folder)
  LEVEL3_PROGRAMS="$target/debug" cargo test --locked --manifest-path "$whatsapp" --features test-server "$@" -- --test-threads 6
}

cd -P "$(dirname "${BASH_SOURCE[0]}")"

case "${1:-}" in
  '') serve ;;
  test)
    shift
    run_tests "$@"
    ;;
  test-channels)
    shift
    test_channels "$@"
    ;;
  help | -h | --help) usage ;;
  *)
    say "\`$1\` is not something run.sh does"
    usage >&2
    exit 2
    ;;
esac
