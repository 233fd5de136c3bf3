//! Tests of `mcp::definition`.

use serde_json::json;

use super::*;

fn tool(name: &str, description: &str, schema: Value) -> Tool {
    let Value::Object(schema) = schema else { panic!() };
    Tool::new(name.to_owned(), description.to_owned(), schema)
}

#[test]
fn a_description_is_bounded_and_cleaned() {
    let hidden = format!("Adds.\u{200B}\u{E0041} {}", "x".repeat(5000));
    let listed = read("calc", vec![tool("addNumbers", &hidden, json!({"type": "object"}))]);
    let definition = &listed.tools[0];
    assert_eq!((definition.tool.as_str(), definition.name.as_str()), ("calc__add_numbers", "addNumbers"));
    assert!(definition.description.starts_with("Adds. x"), "{}", definition.description);
    assert_eq!(definition.description.chars().count(), DESCRIPTION + 1, "with the sign that it was cut");
}

#[test]
fn every_change_of_a_definition_changes_its_fingerprint() {
    let of = |name: &str, description: &str, schema| read("s", vec![tool(name, description, schema)]).tools[0].sha256.clone();
    let first = of("a", "b", json!({"type": "object"}));
    assert_eq!(first, of("a", "b", json!({"type": "object"})));
    assert_ne!(first, of("A", "b", json!({"type": "object"})));
    assert_ne!(first, of("a", "b\u{200B}", json!({"type": "object"})), "what was cleaned away counts too");
    assert_ne!(first, of("a", "b", json!({"type": "object", "properties": {}})));
}

#[test]
fn tools_that_cannot_be_offered_are_left_out_with_the_reason() {
    let many = (0..70).map(|n| tool(&format!("t{n}"), "", json!({})));
    let odd = [
        tool("a.b", "", json!({})),
        tool("a_b", "", json!({})),
        tool("…", "", json!({})),
        tool("remote", "", json!({"properties": {"x": {"$ref": "https://evil.example"}}})),
    ];
    let listed = read("s", odd.into_iter().chain(many).collect());
    assert_eq!(listed.tools.len(), MOST_TOOLS);
    let reason = |name: &str| listed.left_out[name].as_str();
    assert!(reason("a_b").contains("same name") && reason("…").contains("no letter"));
    assert!(reason("remote").contains("outside it") && reason("t69").contains("64 tools"));
}

#[test]
fn a_definition_that_is_none_leaves_the_others_their_place() {
    let good = json!({"name": "add", "inputSchema": {"type": "object"}});
    let bad = [json!({"name": "bare"}), json!({"name": "odd", "inputSchema": "any"}), json!(7)];
    let list = json!({"tools": [bad[0], good, bad[1], bad[2]], "nextCursor": "2"});
    let page = one_by_one(list).unwrap();
    assert_eq!((page.tools.len(), &*page.tools[0].name, page.next.as_deref()), (1, "add", Some("2")));
    let unread: Vec<_> = page.unread.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(unread, ["bare", "odd", "a tool without a name"]);
    assert!(page.unread[0].1.contains("missing field `inputSchema`"), "{:?}", page.unread);
    assert!(one_by_one(json!({"tools": "none"})).is_none() && one_by_one(json!({})).is_none());
}

#[test]
fn answers_become_bounded_text() {
    let of = |value: Value| answer(serde_json::from_value(value).unwrap());
    let text = |ok, text: &str| McpAnswer { ok, text: text.into() };
    assert_eq!(of(json!({"content": [{"type": "text", "text": "a\u{200B}b"}]})), text(true, "ab"));
    assert_eq!(of(json!({"content": [{"type": "text", "text": "no"}], "isError": true})), text(false, "no"));
    assert_eq!(of(json!({"content": [], "structuredContent": {"n": 1}})), text(true, "{\"n\":1}"));
    let mixed = json!({"content": [{"type": "text", "text": "see"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "x:1", "text": "inside"}}]});
    assert_eq!(of(mixed), text(true, "see\n[an image, image/png, not shown]\ninside"));
    let long = of(json!({"content": [{"type": "text", "text": "é".repeat(200_000)}]})).text;
    assert!(long.len() < MAX_ANSWER + 100 && long.contains("bytes left out here"), "{}", long.len());
}
