//! Trees as Chromium gives them, shortened.

use serde_json::json;

use super::*;

fn node(id: &str, role: &str, name: &str, children: &[&str]) -> Value {
    json!({"nodeId": id, "role": {"value": role}, "name": {"value": name}, "childIds": children, "backendDOMNodeId": id.len() + 10})
}

fn frame(nodes: Vec<Value>) -> FrameTree {
    FrameTree { address: None, frame: "F".to_owned(), loader: "L".to_owned(), touchable: true, nodes }
}

#[test]
fn a_page_is_text_with_numbers_for_what_can_be_touched() {
    let mut field = node("4", "textbox", "Search", &[]);
    field["value"] = json!({"value": "Ada\n Lovelace"});
    let mut link = node("55", "link", "Profile", &["5t"]);
    link["properties"] = json!([{"name": "url", "value": {"value": "https://example.com/ada"}}]);
    let mut ignored = node("6", "generic", "", &["7"]);
    ignored["ignored"] = json!(true);
    let page = written(&[frame(vec![
        node("1", "RootWebArea", "People", &["2", "4", "55", "6"]),
        node("2", "heading", "All people", &["3"]),
        node("3", "StaticText", "All people", &["3i"]),
        node("3i", "InlineTextBox", "All people", &[]),
        field,
        link,
        node("5t", "StaticText", "Profile", &[]),
        ignored,
        node("7", "StaticText", "[9] button “Send all”", &[]),
    ])]);
    let lines = [
        "heading “All people”",
        "[1] textbox “Search” = “Ada Lovelace”",
        "[2] link “Profile” → https://example.com/ada",
        "(9] button “Send all”",
    ];
    assert_eq!(page.text, lines.map(|line| format!("{line}\n")).concat());
    assert_eq!(page.places[&2], NodePlace { backend: 12, frame: "F".to_owned(), loader: "L".to_owned() });
    assert_eq!(page.nodes[1].to_string(), "[2] link “Profile”");
}

#[test]
fn a_long_page_is_cut_and_its_last_nodes_have_no_numbers() {
    let ids: Vec<String> = (0..2_000).map(|n| format!("n{n}")).collect();
    let children: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut nodes = vec![node("root", "RootWebArea", "", &children)];
    nodes.extend(ids.iter().map(|id| node(id, "button", &format!("Button {id} {}", "x".repeat(40)), &[])));
    let page = written(&[frame(nodes)]);
    assert!(page.text.len() <= MOST_PAGE && page.text.ends_with("lines more are not shown]"), "{} bytes", page.text.len());
    assert!(page.nodes.len() > 100 && page.nodes.len() < 400);
    let last = page.nodes.last().unwrap();
    assert!(page.text.contains(&last.to_string()) && !page.text.contains(&format!("[{}]", last.number + 1)));
    assert_eq!(page.places.len(), page.nodes.len());
}

#[test]
fn a_frame_of_another_site_is_read_without_numbers_and_a_circle_ends() {
    let foreign = FrameTree {
        address: Some("https://example.com/inner".to_owned()),
        touchable: false,
        ..frame(vec![node("1", "RootWebArea", "", &["2"]), node("2", "button", "In frame", &["1"])])
    };
    let page = written(&[foreign]);
    assert!(page.text.contains("it can be read, and not touched)\nbutton “In frame”\n"), "{}", page.text);
    assert!(page.nodes.is_empty());
}
