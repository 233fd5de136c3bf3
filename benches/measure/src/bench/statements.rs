//! The statements and commits of a turn, by Postgres' own log and its counters.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use super::house::House;
use super::postgres::Postgres;
use super::report::Report;
use super::settings::Settings;

const TURNS: usize = 20;

const TRANSACTIONS: &str = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
const WRITTEN: &str = "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint";

struct Counted {
    statements: usize,
    connections: usize,
    transactions: i64,
    bytes: i64,
}

pub fn measure(house: &House, settings: &Settings, report: &mut Report) {
    let mut postgres = Postgres::open(&house.data, "level3");
    let mut client = house.client();
    let conversation = house.conversation();
    for words in ["simple", "tools"] {
        client.turn(conversation, words);
    }
    postgres.run("ALTER SYSTEM SET log_min_duration_statement = 0");
    postgres.run("SELECT pg_reload_conf()");
    settings.settle(2);
    let count = settings.times(TURNS);
    for words in ["simple", "call", "tools"] {
        let counted = counted(house, &mut postgres, || {
            for _ in 0..count {
                client.turn(conversation, words);
            }
        });
        let per = |number: f64| format!("{:.1}", number / count as f64);
        let what = match words {
            "simple" => "simple turn",
            "call" => "turn with a capability's call",
            _ => "turn with three tools",
        };
        if words == "simple" {
            let each = counted.statements as f64 / count as f64;
            report.goal("statements of a simple turn", &format!("{each:.1}"), each / 6.0, "6", "");
        }
        let (statements, transactions) = (per(counted.statements as f64), per(counted.transactions as f64));
        let kilobytes = format!("{} KiB", per(counted.bytes as f64 / 1024.0));
        report.row("statements", &[what, &statements, &transactions, &kilobytes, &counted.connections.to_string()]);
    }
    // A claim is followed by one look within two seconds.
    settings.settle(3);
    let seconds = settings.lasting(10).as_secs_f64();
    let idle = counted(house, &mut postgres, || settings.settle(10));
    let (statements, transactions) = (idle.statements as f64 / seconds, idle.transactions as f64 / seconds);
    report.goal(
        "statements of an idle second",
        &format!("{statements:.1}"),
        if statements > 0.05 { f64::INFINITY } else { 0.0 },
        "0",
        "",
    );
    let kilobytes = format!("{:.1} KiB", idle.bytes as f64 / seconds / 1024.0);
    let connections = idle.connections.to_string();
    report.row(
        "statements",
        &["idle second", &format!("{statements:.1}"), &format!("{transactions:.1}"), &kilobytes, &connections],
    );
    postgres.run("ALTER SYSTEM RESET log_min_duration_statement");
    postgres.run("SELECT pg_reload_conf()");
}

fn counted(house: &House, postgres: &mut Postgres, act: impl FnOnce()) -> Counted {
    let (transactions, bytes) = (postgres.number(TRANSACTIONS, &[]), postgres.number(WRITTEN, &[]));
    let own = format!("[{}]", postgres.number("SELECT pg_backend_pid()::bigint", &[]));
    let mut log = File::open(house.data.join("postgres.log")).expect("Postgres has a log");
    log.seek(SeekFrom::End(0)).expect("its end");
    act();
    let mut lines = String::new();
    log.read_to_string(&mut lines).expect("its lines");
    let executed = |line: &&str| {
        line.contains(" duration: ") && (line.contains(" execute ") || line.contains(" statement: ")) && !line.contains(&own)
    };
    let executed: Vec<_> = lines.lines().filter(executed).collect();
    let connections: BTreeSet<_> = executed.iter().filter_map(|line| line.split(['[', ']']).nth(1)).collect();
    Counted {
        statements: executed.len(),
        connections: connections.len(),
        transactions: postgres.number(TRANSACTIONS, &[]) - transactions,
        bytes: postgres.number(WRITTEN, &[]) - bytes,
    }
}
