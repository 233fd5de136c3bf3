//! Tests of `config`.

use std::path::Path;
use std::time::Duration;

use super::*;

fn read(settings: &[(&str, &str)]) -> Result<Config, String> {
    let settings = settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    Config::read(&settings).map_err(|error| error.to_string())
}

#[test]
fn the_defaults_are_those_of_the_documents() {
    let config = read(&[]).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:8000");
    assert_eq!(config.data_dir, Path::new("./data"));
    assert_eq!((Duration::from(config.heartbeat).as_secs(), config.turn), (300, TurnLimits { steps: 10, history: 50 }));
    assert!(config.database_url.is_none() && config.model.provider.is_none() && !config.safe_mode);
}

#[test]
fn an_empty_value_counts_as_unset() {
    assert!(read(&[("DATABASE_URL", " ")]).unwrap().database_url.is_none());
}

#[test]
fn every_error_names_the_variable() {
    for (name, value) in [
        ("LEVEL3_LISTEN", "8000"),
        ("HEARTBEAT_INTERVAL", "0"),
        ("HEARTBEAT_INTERVAL", "9223372036854775807"),
        ("APPROVAL_EXPIRY", "99999999999999"),
        ("LEVEL3_SHUTDOWN_SECONDS", "315360001"),
        ("LEVEL3_MCP_SECONDS", "315360001"),
        ("MAX_TOOL_ITERATIONS", "-1"),
        ("MAX_CONVERSATION_HISTORY", "many"),
        ("LEVEL3_ALLOWED_HOSTS", "https://box.lan"),
        ("LEVEL3_EGRESS_ALLOW", "localhost:9000"),
        ("LEVEL3_EGRESS_ALLOW", "127.0.0.1"),
        ("LEVEL3_EGRESS_ALLOW", "127.0.0.1:0"),
        ("LEVEL3_EGRESS_ALLOW", "0.0.0.0:9000"),
        ("LEVEL3_EGRESS_ALLOW", "10.0.0.0/8"),
        ("LLM_CONTEXT_TOKENS", "8k"),
        ("LLM_CONTEXT_TOKENS", "512"),
        ("LEVEL3_AGENT_QUOTA", "0"),
        ("LEVEL3_AGENT_QUOTA", "2GB"),
        ("LEVEL3_AGENT_QUOTA", "99999999TiB"),
        ("LEVEL3_DISK_RESERVE", "much"),
        ("LEVEL3_TURN_LOG", "/var/log/level3.log"),
        ("LEVEL3_RELAY_PACE", "[]"),
        ("LEVEL3_OPERATOR_LIMITS", "x"),
        ("LEVEL3_FAILPOINT", "nowhere:abort"),
    ] {
        let error = read(&[(name, value)]).err().expect(name);
        assert!(error.starts_with(&format!("{name} is `{value}`")), "{error}");
    }
}

#[test]
fn a_switch_is_on_or_off_and_nothing_else() {
    let logs = |value: &str| read(&[("LEVEL3_TURN_LOG", value)]).map(|config| config.turn_log);
    assert_eq!([logs(""), logs("1"), logs("0"), logs("Off"), logs("true")], [true, true, false, false, true].map(Ok));
    assert_eq!(logs("turns").unwrap_err(), "LEVEL3_TURN_LOG is `turns`: expected 1 for on, or 0 for off");
    let off = read(&[("LEVEL3_MCP_COMMANDS", "off"), ("LEVEL3_SAFE_MODE", "false")]).unwrap();
    assert_eq!((off.mcp_commands, off.safe_mode), (false, false));
    assert!(read(&[("LEVEL3_MCP_COMMANDS", "never")]).is_err());
}

#[test]
fn bytes_are_read_with_and_without_a_unit() {
    let room = |quota: &str, reserve: &str| {
        let config = read(&[("LEVEL3_AGENT_QUOTA", quota), ("LEVEL3_DISK_RESERVE", reserve)]).unwrap();
        (config.agent_quota, config.disk_reserve)
    };
    assert_eq!(room("", ""), (2 << 30, 200 << 20));
    assert_eq!(room("1048576", "3 MiB"), (1 << 20, 3 << 20));
    assert_eq!(room("1tib", "4KiB"), (1 << 40, 4 << 10));
}

#[test]
fn addresses_allowed_to_requests_are_read_one_by_one() {
    let allowed = read(&[("LEVEL3_EGRESS_ALLOW", " 127.0.0.1:9000, [::1]:9000,")]).unwrap().egress_allow;
    assert_eq!(allowed, ["127.0.0.1:9000", "[::1]:9000"].map(|address| address.parse().unwrap()).into());
    assert!(read(&[]).unwrap().egress_allow.is_empty());
}

#[test]
fn a_token_that_other_machines_can_try_is_long() {
    let said = |listen: &str, token: &str| read(&[("LEVEL3_LISTEN", listen), ("LEVEL3_TOKEN", token)]).unwrap().short_token();
    for listen in ["0.0.0.0:80", "[::]:80", "192.168.1.5:80"] {
        let short = said(listen, "only-fifteen-by").expect(listen);
        assert!(short.starts_with("LEVEL3_TOKEN has fewer than 16 characters") && !short.contains("fifteen"), "{short}");
        assert_eq!((said(listen, "these-are-16-now"), said(listen, "")), (None, None));
    }
    for listen in ["127.0.0.1:80", "[::1]:80", "[::ffff:127.0.0.1]:80"] {
        assert_eq!(said(listen, "x"), None);
    }
}
