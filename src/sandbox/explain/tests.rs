//! Tests of `sandbox::explain`.

use super::*;

#[test]
fn words_of_other_places_are_explained() {
    assert!(with_hint("require is not defined").ends_with("remove `require` and `module.exports`."));
    assert!(with_hint("'Intl' is not defined").ends_with("the time zone is UTC."));
    assert_eq!(with_hint("totals is not defined"), "totals is not defined");
}

#[test]
fn a_thrown_object_that_shows_no_field_is_explained() {
    assert!(of_no_error("{}").contains("throw an Error"));
    assert_eq!(of_no_error(r#"{"code":7}"#), r#"{"code":7}"#);
    assert_eq!(of_no_error("just a text"), "just a text");
    assert_eq!(with_hint("{}"), "{}");
}

#[test]
fn other_languages_are_recognised() {
    assert!(syntax_hint("```js\nfunction f() {}\n```").contains("Markdown"));
    assert!(syntax_hint("async def f(params):\n    return 1").contains("Python"));
    assert!(syntax_hint("function f(params: any) {}").contains("TypeScript"));
    assert_eq!(syntax_hint("function f( {"), "");
}

#[test]
fn a_place_is_shown_by_what_stands_around_it() {
    let source = "const a = 1;\nreturn params.name.split(' ').map((word => word[0]).join('');";
    assert_eq!(near(source, SourcePlace { line: 1, offset: 11 }).as_deref(), Some("const a = 1;"));
    let shown = near(source, SourcePlace { line: 2, offset: 64 }).unwrap();
    assert!(shown.starts_with("t(' ').map(") && shown.ends_with(".join('');"), "{shown}");
    for (line, offset) in [(0, 1), (9, 1)] {
        assert_eq!(near(source, SourcePlace { line, offset }), None);
    }
    assert_eq!(near(source, SourcePlace { line: 1, offset: 4000 }), None);
}

#[test]
fn a_bracket_that_is_still_open_is_named() {
    let at = |source: &str| {
        let (line, last) = source.lines().enumerate().last().unwrap();
        open_bracket(source, SourcePlace { line: line as u32 + 1, offset: last.chars().count() as u32 })
    };
    let told = at("const n = 1;\nreturn params.name.split(' ').map((word => word[0]).join('');").unwrap();
    assert_eq!(
        told,
        " The `(` in `.name.split(' ').map((word => word[0]).j` is still open there: write its `)`, or take it out."
    );
    for fine in
        ["f(1) x", "const s = '(' x", "// ( \nconst a x", "function f() { const a = ; ", "`(${'a'}` x", "/* ( */ a b", "] ) x"]
    {
        assert_eq!(at(fine), None, "{fine}");
    }
    assert!(at("const ä = ['ü', ;").is_some());
    let windows = "\r\nä = 1;".repeat(30) + "\r\n\r\nf(ü;";
    assert_eq!(
        open_bracket(&windows, SourcePlace { line: 33, offset: 4 }).as_deref(),
        Some(" The `(` in `f(ü;` is still open there: write its `)`, or take it out.")
    );
    assert_eq!(open_bracket("f(", SourcePlace { line: 7, offset: 9 }), None);
}

#[test]
fn long_messages_are_clipped_between_characters() {
    let clipped = clip(&"é".repeat(3000));
    assert!(clipped.ends_with("é… (6000 bytes in all)"), "{clipped}");
}
