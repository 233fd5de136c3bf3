//! Tests of `domain::mcp`.

use serde_json::json;

use super::*;

#[test]
fn tools_get_names_that_models_and_rules_accept() {
    for (name, tool) in [
        ("create_issue", "git__create_issue"),
        ("createIssue", "git__create_issue"),
        ("list-files", "git__list_files"),
        ("a.b/c", "git__a_b_c"),
        ("HTTPGet", "git__httpget"),
    ] {
        assert_eq!(mcp_tool_name("git", name).as_deref(), Some(tool), "{name}");
    }
    for name in ["", "…", "_", &"x".repeat(80)] {
        assert_eq!(mcp_tool_name("git", name), None, "{name}");
    }
}

#[test]
fn names_of_servers_leave_no_doubt_where_they_end() {
    for good in ["git", "my_files", "a2"] {
        assert!(valid_mcp_name(good), "{good}");
    }
    for bad in ["", "Git", "a__b", "a_", "2a", "my-files", &"a".repeat(25)] {
        assert!(!valid_mcp_name(bad), "{bad}");
    }
}

fn refused(transport: Value) -> String {
    serde_json::from_value::<McpTransport>(transport).unwrap().check().unwrap_err().why
}

#[test]
fn secrets_are_taken_by_name_only() {
    let good = [
        json!({"url": "http://127.0.0.1:9/mcp"}),
        json!({"url": "https://a.example/mcp", "headers": {"Authorization": "Bearer {{API_KEY}}", "X-Team": "blue"}}),
        json!({"command": ["npx", "server"], "env": {"API_TOKEN": "{{API_KEY}}", "MODE": "fast"}}),
    ];
    for transport in good {
        assert_eq!(serde_json::from_value::<McpTransport>(transport).unwrap().check(), Ok(()));
    }
    let clear = json!({"url": "https://a.example", "headers": {"Authorization": "Bearer abc"}});
    assert!(refused(clear).contains("level3 secret set"));
    assert!(refused(json!({"command": ["x"], "env": {"API_KEY": "abc"}})).contains("kept in the clear"));
    assert!(refused(json!({"url": "https://me:pw@a.example"})).contains("do not belong into the address"));
    assert!(refused(json!({"url": "https://a.example/{{KEY}}"})).contains("do not belong into the address"));
    assert!(refused(json!({"command": ["x", "{{KEY}}"]})).contains("as variables"));
    assert!(refused(json!({"url": "https://a.example", "headers": {"X-A": "{{no name}}"}})).contains("no name of a secret"));
    assert!(refused(json!({"url": "https://a.example", "headers": {"X-A": "{{A"}})).contains("without"));
}

#[test]
fn what_makes_no_sense_is_refused_with_what_to_do() {
    assert!(refused(json!({"url": "ftp://a.example"})).contains("http:// or https://"));
    assert!(refused(json!({"url": "nowhere"})).contains("is no address"));
    assert!(refused(json!({"command": []})).contains("name the program"));
    assert!(refused(json!({"url": "https://a.example", "headers": {"a b": "c"}})).contains("no name of a header"));
    assert!(refused(json!({"command": ["x"], "env": {"a=b": "c"}})).contains("no name of a variable"));
    assert!(refused(json!({"command": ["x\n"]})).contains("no control characters"));
}

#[test]
fn a_fault_names_its_field() {
    let url = "https://a.example";
    for (transport, field) in [
        (json!({"url": ""}), "url"),
        (json!({"url": url, "headers": {"a b": "c"}}), "headers"),
        (json!({"command": [""]}), "command"),
        (json!({"command": ["x"], "env": {"TOKEN": "abc"}}), "env"),
    ] {
        let fault = serde_json::from_value::<McpTransport>(transport).unwrap().check().unwrap_err();
        assert!(fault.field == field && !fault.why.contains("--"), "{fault:?}");
    }
}

#[test]
fn a_transport_that_is_none_is_refused_with_the_field_that_is_wrong() {
    let refused = |transport: Value| serde_json::from_value::<McpTransport>(transport).unwrap_err().to_string();
    let url = "https://a.example";
    for neither in
        [json!({}), json!("x"), json!({"url": url, "command": ["x"]}), json!({"url": url, "env": {}}), json!({"env": {}})]
    {
        assert_eq!(refused(neither.clone()), WAYS, "{neither}");
    }
    for (wrong, told) in [
        (json!({"command": "ls"}), "`command` is a list of texts"),
        (json!({"url": url, "headers": ["X-A: b"]}), "`headers` is an object of texts"),
        (json!({"command": ["x"], "env": {"A": 5}}), "`env` is an object of texts"),
        (json!({"url": 5}), "`url` is a text"),
        (json!({"url": url, "header": {}}), "`header` is not known here"),
    ] {
        let refused = refused(wrong);
        assert!(refused.starts_with(told), "{refused}");
    }
}
