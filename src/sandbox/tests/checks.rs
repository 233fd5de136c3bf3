//! Each check a draft has to pass, and the words of each failure.

use super::*;
use crate::domain::{RefusalCode, SourcePlace};
use crate::sandbox::component::Bytes;

async fn accepted(source: &str) -> CheckedDraft {
    let draft = Draft { tests: vec![test(json!({"n": 2}), json!(4))], ..draft(source) };
    sandbox().check(&draft).await.unwrap_or_else(|error| panic!("{source}: {error}"))
}

#[tokio::test]
async fn every_usual_way_to_give_the_function_is_accepted() {
    for source in [
        "export default function (p) { return p.n * 2 }",
        "export default async (p) => p.n * 2",
        "export async function probe(p) { return p.n * 2 }",
        "export const probe = (p) => p.n * 2;",
        "export function run(p) { return p.n * 2 }",
        "async function probe(p) { return p.n * 2 }",
        "const probe = async (p) => p.n * 2; // no newline after this",
        "function helper(n) { return n * 2 }\nasync function probe(p) { return helper(p.n) }",
        "const helper = (n) => n * 2; export { helper }; function probe(p) { return helper(p.n) }",
    ] {
        let checked = accepted(source).await;
        assert!(checked.source.starts_with(source), "{}", checked.source);
        assert_eq!(checked.tests[0].result.as_deref(), Some("4"));
        assert_eq!(checked.engine, "level3-js-engine-v2");
    }
}

#[tokio::test]
async fn what_the_author_wrote_is_kept_and_only_added_to() {
    let source = "async function probe(params) {\n  return 4;\n}";
    assert_eq!(accepted(source).await.source, format!("{source}\nexport default probe;\n"));
    let source = "export default () => 4";
    assert_eq!(accepted(source).await.source, source);
}

#[tokio::test]
async fn semicolons_that_were_lost_with_the_ends_of_lines_are_put_in_and_nothing_else() {
    let joined = "export default (p) => { const twice = (n) => { return n * 2 } const all = [p.n] return all.map(twice)[0] }";
    let mended = "export default (p) => { const twice = (n) => { return n * 2 } ;const all = [p.n] ;return all.map(twice)[0] }";
    assert_eq!(accepted(joined).await.source, mended);
    let declared = "const twice = (n) => { return n * 2 } async function probe(p) { return twice(p.n) }";
    assert!(accepted(declared).await.source.starts_with("const twice = (n) => { return n * 2 } ;async function probe"));
    // A word that is written wrong is no lost semicolon, and a second mistake is told at the place
    // of the first.
    for (source, offset) in
        [("export default (p) => { cosnt x = p.n; return x }", 31), ("export default () => { f() return x = ; }", 28)]
    {
        let error = refused(&draft(source)).await;
        assert_eq!((error.kind, error.place), (RefusalCode::SyntaxError, Some(SourcePlace { line: 1, offset })), "{error}");
    }
}

#[tokio::test]
async fn a_name_must_follow_the_rule() {
    let error = refused(&Draft { name: "Probe-It".into(), ..draft("") }).await;
    assert_eq!(error.kind, RefusalCode::InvalidName);
    assert!(error.message.contains("`Probe-It`") && error.message.contains("snake_case"), "{error}");
}

#[tokio::test]
async fn parameters_must_be_a_schema() {
    let error = refused(&Draft { parameters: json!({"type": "array"}), ..draft("export default () => 1") }).await;
    assert_eq!(error.refusal().to_json()["error"], "invalid_schema");
}

#[tokio::test]
async fn a_syntax_error_has_line_and_offset() {
    let error = refused(&draft("export default function (p) {\n  const x = ;\n  return x\n}")).await;
    let json = error.refusal().to_json();
    assert_eq!(json["error"], "syntax_error");
    assert_eq!((&json["line"], &json["offset"]), (&json!(2), &json!(13)), "{json}");
    assert!(json["message"].as_str().unwrap().contains("unexpected token"), "{json}");
    assert_eq!(json["near"], "const x = ;");
    let error = refused(&draft("export default (p) => p.name.split(' ').map((word => word[0]).join('');")).await;
    let told = "The `(` in `.name.split(' ').map((word => word[0]).j` is still open there: write its `)`, or take it out.";
    assert!(error.message.ends_with(told), "{error}");
}

#[tokio::test]
async fn a_regular_expression_that_cannot_be_read_has_a_place() {
    for (pattern, why) in [
        ("/(?<=a/", "the regular expression /(?<=a/ cannot be read: expecting ')'."),
        ("/[z-a]/u", "the regular expression /[z-a]/u cannot be read: invalid class range."),
        ("/a/gg", "the regular expression /a/gg cannot be read: invalid regular expression flags."),
    ] {
        let error = refused(&draft(&format!("function probe(p) {{\n  return p.s.replace({pattern}, '');\n}}"))).await;
        assert_eq!((error.kind, error.message.as_str()), (RefusalCode::SyntaxError, why));
        assert_eq!(error.place, Some(SourcePlace { line: 2, offset: 22 }), "{error}");
        assert!(error.near.unwrap().contains(pattern));
    }
}

#[tokio::test]
async fn a_name_that_the_language_has_for_itself_is_explained() {
    let error = refused(&Draft { name: "class".into(), ..draft("async function class(params) { return 1 }") }).await;
    assert!(error.message.contains("the word `class`") && error.message.contains("another name"), "{error}");
    let source = "export default function (params) { return 1 }";
    sandbox().check(&Draft { name: "class".into(), ..draft(source) }).await.unwrap();
}

#[tokio::test]
async fn code_in_a_markdown_fence_is_named_also_if_it_can_be_read() {
    let error = refused(&draft("```js\nfunction probe() { return 1 }\n```")).await;
    assert!(error.message.ends_with(" Give the code alone, without Markdown fences."), "{error}");
}

#[tokio::test]
async fn other_languages_are_named() {
    let error = refused(&draft("async def probe(params):\n    return 1")).await;
    assert_eq!(error.kind, RefusalCode::SyntaxError);
    assert!(error.message.contains("looks like Python"), "{error}");
}

#[tokio::test]
async fn an_import_is_an_import_error() {
    let error = refused(&draft("import fs from 'fs';\nexport default () => fs")).await;
    assert_eq!(error.kind, RefusalCode::ImportError);
    assert_eq!(error.message, "cannot import 'fs': a capability is one ES module without imports");
}

#[tokio::test]
async fn commonjs_is_explained() {
    for source in ["module.exports = async (p) => 1", "const fs = require('fs');\nfunction probe() {}"] {
        let error = refused(&draft(source)).await;
        assert_eq!(error.kind, RefusalCode::ImportError);
        assert!(error.message.contains("not CommonJS: define the function"), "{error}");
        assert_eq!(error.place.map(|place| place.line), Some(1));
    }
}

#[tokio::test]
async fn code_that_throws_or_hangs_while_loading_is_an_import_error() {
    let error = refused(&draft("const a = 1;\nthrow new Error('at load')")).await;
    assert_eq!((error.kind, error.place), (RefusalCode::ImportError, Some(SourcePlace { line: 2, offset: 11 })));
    assert!(error.message.contains("fails while loading: Error: at load"), "{error}");
    let error = impatient().check(&draft("for (;;) {}")).await.map(|_| ()).unwrap_err();
    assert_eq!(error.kind, RefusalCode::ImportError);
    assert!(error.message.contains("did not finish in time"), "{error}");
}

#[tokio::test]
async fn a_missing_function_is_asked_for_by_name() {
    for source in ["function other(p) { return 1 }", "export const other = 1;", "", "const probe = 5;", "(p) => 1"] {
        let error = refused(&draft(source)).await;
        assert_eq!(error.kind, RefusalCode::MissingFunction, "{source}: {error}");
        assert!(error.message.contains("async function probe(params)"), "{error}");
    }
    let error = refused(&draft("function other() { return 1 }\nexport { other as probe };")).await;
    assert!(error.message.contains("name it `probe` there, too"), "{error}");
    let error = refused(&draft("export default { probe() {} }")).await;
    assert!(error.message.contains("`export default` must export the function"), "{error}");
}

#[tokio::test]
async fn a_failing_test_says_what_was_expected_and_what_came() {
    let tests = vec![test(json!({"n": 1}), json!("I")), test(json!({"n": 4}), json!("IV"))];
    let source = "export default (p) => { console.log('n is', p.n); return 'I'.repeat(p.n) }";
    let error = refused(&Draft { tests, ..draft(source) }).await;
    assert_eq!(
        error.refusal().to_json(),
        json!({
            "error": "test_failed", "case": 2, "expected": "IV", "got": "IIII", "logs": ["n is 4"],
            "message": "test 2 of 2: probe({\"n\":4}) gave IIII, but \"IV\" was expected; correct the code or the test",
        })
    );
}

#[tokio::test]
async fn a_test_that_throws_has_the_place() {
    let tests = vec![TestCase { params: json!({}), expect: None, answers: vec![] }];
    let error = refused(&Draft { tests, ..draft("export default (p) => {\n  return p.a.b;\n}") }).await;
    assert_eq!((error.kind, error.place.map(|place| place.line)), (RefusalCode::TestFailed, Some(2)));
    assert!(error.message.contains("test 1 of 1: probe({}) failed: TypeError"), "{error}");
}

#[tokio::test]
async fn a_test_must_fit_the_parameters() {
    let parameters = json!({"type": "object", "required": ["n"]});
    let error = refused(&Draft { parameters, tests: vec![test(json!({}), json!(1))], ..draft("export default () => 1") }).await;
    assert_eq!(error.kind, RefusalCode::TestFailed);
    assert!(error.message.contains("does not fit the parameters"), "{error}");
}

#[tokio::test]
async fn tests_have_a_time_together() {
    let draft = Draft { tests: vec![test(json!({"n": 1}), json!(2))], ..draft("export default (p) => p.n * 2") };
    let checked = sandbox().check(&draft).await.unwrap();
    let bytes = Bytes { component: &checked.component, sha256: &checked.sha256, grants: &draft.grants, language: draft.language };
    let loaded = sandbox().0.load(bytes).await.unwrap();
    let error = sandbox().0.tests(&draft, &loaded, Duration::ZERO).await.unwrap_err();
    assert_eq!(error.kind, RefusalCode::TestFailed);
    assert!(error.message.contains("together; keep fewer"), "{error}");
}

#[tokio::test]
async fn a_draft_has_a_size() {
    let error = refused(&draft(&"x".repeat(300_000))).await;
    assert_eq!(error.kind, RefusalCode::TooLarge);
    let source = format!("export default () => {:?}.length", "x".repeat(super::super::MAX_SOURCE_BYTES - 40));
    assert_eq!(result(&source, json!({})).await, (super::super::MAX_SOURCE_BYTES - 40).to_string());
}
