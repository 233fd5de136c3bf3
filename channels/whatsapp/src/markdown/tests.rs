//! Tests of `markdown`.

use super::*;

#[test]
fn marks_become_those_of_whatsapp() {
    for (markdown, wanted) in [
        ("**bold** and *it* and ~~old~~", "*bold* and _it_ and ~old~"),
        ("__bold__ and _it_", "*bold* and _it_"),
        ("***both***", "*_both_*"),
        ("**bold *and it* so**", "*bold _and it_ so*"),
        ("# Title #\ntext", "*Title*\ntext"),
        ("### A **b** c", "*A b c*"),
        ("* one\n  + two\n- three\n1. four", "- one\n  - two\n- three\n1. four"),
        ("> said", "> said"),
        ("[here](https://a.b/c \"t\") and ![cat](https://c.d)", "here (https://a.b/c) and cat (https://c.d)"),
        ("<https://a.b> [https://a.b](https://a.b)", "https://a.b https://a.b"),
        ("a  \nb", "a\nb"),
    ] {
        assert_eq!(whatsapp(markdown), wanted);
    }
}

#[test]
fn code_stays_as_it_is() {
    assert_eq!(whatsapp("```rust\nlet a = **b;\n```\n**x**"), "```\nlet a = **b;\n```\n*x*");
    assert_eq!(whatsapp("`**a**` and ``b ` c``"), "`**a**` and `b ` c`");
}

#[test]
fn marks_that_open_nothing_stay() {
    for text in ["2 * 3 * 4", "2*3*4", "a ** b", "snake_case_name", "*alone", "**", "100 ~ 200", "[a] (b)", "a < b > c", "`open"]
    {
        assert_eq!(whatsapp(text), text);
    }
    assert_eq!(whatsapp(r"\*not\* 1\. C:\dir"), r"*not* 1. C:\dir");
}

#[test]
fn any_text_is_survived() {
    for text in
        ["", "*", "[](", "![](", "]()", "\\", "`", "``", "~~~~", "***", "****", "ä**ö**ü", "*é*", "# ", "######## x", "<http"]
    {
        let _ = whatsapp(text);
    }
    assert_eq!(whatsapp("Größe: **größer**"), "Größe: *größer*");
}
