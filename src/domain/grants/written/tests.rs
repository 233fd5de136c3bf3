//! Tests of `domain::grants::written`.

use super::*;

fn read(written: Value) -> Result<Grants, String> {
    serde_json::from_value(written).map_err(|error| error.to_string())
}

#[test]
fn grants_read_back_as_written() {
    let text = serde_json::to_string(&Grants::harmless()).unwrap();
    assert_eq!(text, r#"{"clock":{},"log":{},"random":{}}"#);
    for written in [
        json!({"clock": {}, "log": {}}),
        json!({"http": {"hosts": ["*.example.org", {"host": "a.example", "methods": ["GET", "POST"], "path": "/v1/", "port": 8443}]}}),
        json!({"http": {"hosts": [{"host": "127.0.0.1", "port": 9000, "scheme": "http", "keyed": true}]}}),
        json!({"kv": {}, "sql": {"access": "write"}, "secrets": {"A_KEY": ["a.example"]}, "tools": {"names": ["a", "b"]}}),
    ] {
        assert_eq!(json!(read(written.clone()).unwrap()), written);
    }
}

#[test]
fn the_ways_a_host_is_written_have_one_meaning() {
    let hosts = |host: Value| read(json!({"http": {"hosts": [host]}})).map(|grants| json!(grants)["http"]["hosts"][0].clone());
    for same in
        ["api.example.com", "API.Example.com", "https://api.example.com", "https://api.example.com:443/", " api.example.com/ "]
    {
        assert_eq!(hosts(json!(same)), Ok(json!("api.example.com")), "{same}");
    }
    assert_eq!(
        hosts(json!("http://0x7f.1:9000/hook")),
        Ok(json!({"host": "127.0.0.1", "scheme": "http", "port": 9000, "path": "/hook"}))
    );
    assert_eq!(hosts(json!({"host": "a.example", "methods": ["get"]})), Ok(json!({"host": "a.example", "methods": ["GET"]})));
}

#[test]
fn a_secret_keeps_the_port_it_is_bound_to() {
    for (text, binding) in [
        ("api.example.com", "api.example.com"),
        ("https://API.example.com:443/", "api.example.com:443"),
        ("api.example.com:8443", "api.example.com:8443"),
        ("http://127.0.0.1:9000", "127.0.0.1:9000"),
        ("http://[::1]:9000/", "[::1]:9000"),
        ("[::1]", "[::1]"),
        ("*.example.com:8443", "*.example.com:8443"),
    ] {
        let grants = read(json!({"secrets": {"A_KEY": [text]}})).unwrap();
        assert_eq!(json!(grants)["secrets"]["A_KEY"][0], binding, "{text}");
        assert_eq!(read(json!(grants)).unwrap(), grants, "{text}");
    }
    assert!(read(json!({"secrets": {"A_KEY": ["a.example:99999"]}})).unwrap_err().contains("is no host"));
}

#[test]
fn what_cannot_be_granted_is_refused_with_the_way_to_write_it() {
    for (written, said) in [
        (json!({"network": {}}), "there is no power `network` to grant; there are: log, clock, random, http"),
        (json!({"http": {}}), "write `http` like"),
        (json!({"http": {"hosts": []}}), "write `http` like"),
        (json!({"http": {"hosts": ["ftp://a.example"]}}), "only https and http"),
        (json!({"http": {"hosts": ["user@a.example"]}}), "is no host"),
        (json!({"http": {"hosts": ["*.1.2.3.4"]}}), "a star stands before a name only"),
        (json!({"http": {"hosts": ["a.*.example"]}}), "is no host"),
        (json!({"http": {"hosts": [{"host": "a.example", "path": "v1"}]}}), "beginning of a plain path"),
        (json!({"http": {"hosts": [{"host": "a.example", "path": "/a/../b"}]}}), "beginning of a plain path"),
        (json!({"http": {"hosts": [{"host": "a.example", "methods": ["CONNECT"]}]}}), "the method `CONNECT`"),
        (json!({"http": {"hosts": [{"host": "a.example", "verbs": ["GET"]}]}}), "verbs"),
        (json!({"http": {"hosts": [{"host": "a.example", "methods": []}]}}), "`methods` is empty"),
        (json!({"sql": {"access": "all"}}), "write `sql` like"),
        (json!({"kv": false}), "write `kv` like"),
        (json!({"kv": "read"}), "write `kv` like"),
        (json!({"secrets": {"A_KEY": ["https://a.example:8443/v1"]}}), "without /v1"),
        (json!({"secrets": {"api-key": ["a.example"]}}), "the secret's name `api-key`"),
        (json!({"secrets": {"A": []}}), "each name with the hosts, or host:port"),
        (json!({"tools": {"names": ["Not A Name"]}}), "write `tools` like"),
    ] {
        let error = read(written.clone()).expect_err(&written.to_string());
        assert!(error.contains(said), "{written}: {error}");
    }
}

#[test]
fn a_field_that_would_narrow_a_grant_and_is_not_known_is_refused_with_those_that_are() {
    for (written, said) in [
        (json!({"sql": {"access": "read", "tables": ["a"]}}), "`sql` has no field `tables`; it has: access; write `sql` like"),
        (
            json!({"http": {"hosts": ["a.example"], "methods": ["GET"]}}),
            "`http` has no field `methods`; it has: hosts; write `http`",
        ),
        (json!({"tools": {"names": ["a"], "arguments": {}}}), "`tools` has no field `arguments`; it has: names; write `tools`"),
        (json!({"kv": {"prefix": "x"}}), r#"`kv` has no field `prefix`; it has none: write `kv` like {"kv": {}}"#),
        (json!({"log": {"level": "info"}}), "`log` has no field `level`; it has none"),
    ] {
        let error = read(written.clone()).expect_err(&written.to_string());
        assert!(error.contains(said), "{written}: {error}");
    }
    for plain in [json!({"kv": {}, "log": null}), json!({"sql": "read"}), json!({"http": ["a.example"]}), json!({"tools": ["a"]})]
    {
        assert!(read(plain.clone()).is_ok(), "{plain}");
    }
}
