# Shortcuts for people who work on level3. Nothing here is needed to run it: that is ./run.sh.

# Lists what there is.
default:
    @just --list

# Builds and serves, supervised.
run:
    ./run.sh

# Installs what the tests need and runs them; arguments go to `cargo test`.
test *arguments:
    ./run.sh test {{arguments}}

# The rig that breaks things, a short run; part of the tests.
chaos-short:
    cargo test --locked --test chaos

# The long run of faults: processes killed, databases tormented, servers frozen. How much: CHAOS_KILLS, CHAOS_POINTS, CHAOS_SEED.
chaos:
    CHAOS_KILLS="${CHAOS_KILLS:-1000}" CHAOS_POINTS="${CHAOS_POINTS:-50}" cargo test --locked --test chaos -- --nocapture

# A hostile model against 5,000 campaigns; the tests have 256. CAMPAIGN_CASES, CAMPAIGN_SEED.
campaigns:
    CAMPAIGN_CASES="${CAMPAIGN_CASES:-5000}" cargo test --locked --test it campaigns_of_a_hostile_model

# How well the agent extends itself with the model that LLM_* set; EVALS_ONLY, EVALS_RUNS, EVALS_TIMEOUT: see docs/evals.md.
evals:
    cargo test --locked --test evals

# How well the model that LLM_* set carries out a request for each of Lea's twenty functions; the same variables.
evals-lea:
    EVALS_SUITE=lea cargo test --locked --test evals

# Takes the pictures in docs/screens anew.
screens:
    scripts/screens

# The quick ones of the checks that .ci/run makes before the tests.
lint:
    cargo fmt --check
    cargo clippy --locked --all-targets -- -D warnings
    shellcheck run.sh .ci/run

# All that a change must pass; on Debian, as root.
ci:
    .ci/run

# Measures the release binary end to end, and writes docs/performance.md if it measured everything. On a quiet machine. BENCH_ONLY: parts of
# it (start,turns,statements,tokens,crowd,memory,sockets,long,broadcast,growth,todos,relay,campaigns); BENCH_QUICK=1: a few repetitions; LEVEL3_BIN: another
# binary; BENCH_DIR: the folder for its data, on a disk; BENCH_OUT: where to write. If node and npm are there, it brings `ws` to compare with.
bench:
    cargo build --release --locked -p level3 -p level3-bench
    "${CARGO_TARGET_DIR:-target}/release/level3-bench"

# Measures the page in Chromium: 2,000 messages, and an answer that streams. On a quiet machine; needs node and chromedriver.
bench-page:
    node tests/page/bench.mjs

# Measures calls with Law in Chromium, with the program of LEVEL3_BIN and its tour as a model that answers at once. On a quiet machine; five minutes.
bench-voice:
    node tests/page/voice-bench.mjs

# Rebuilds the JavaScript engine from its sources; a test compares the sha256 with what is committed.
engine:
    capabilities/engine/build.sh

# Writes .sqlx again after a query or a migration changed.
sqlx-prepare:
    scripts/prepare-queries

# Licences, sources and banned crates; needs cargo-deny.
deny:
    cargo deny check licenses bans sources
