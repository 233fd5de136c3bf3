//! Tests of `store::undo::text`.

use super::*;

#[test]
fn a_row_is_read_as_postgres_writes_it() {
    let some = |text: &str| Some(text.to_owned());
    for (row, read) in [
        ("(1,abc)", vec![some("1"), some("abc")]),
        (r#"("",,"a,b")"#, vec![some(""), None, some("a,b")]),
        (r#"("say ""yes""","back\\slash","(x)")"#, vec![some(r#"say "yes""#), some(r"back\slash"), some("(x)")]),
        ("(,)", vec![None, None]),
        ("()", vec![None]),
        ("(ü,\"line\nend\")", vec![some("ü"), some("line\nend")]),
    ] {
        assert_eq!(fields(row), Some(read), "{row}");
    }
    for wrong in ["", "1,2", "(1", "(\"1)", "(1\\)"] {
        assert_eq!(fields(wrong), None, "{wrong}");
    }
}

#[test]
fn filling_in_what_was_empty_loses_nothing() {
    for (old, new, lost) in [
        ("(1,)", "(1,x)", false),
        ("(1,x)", "(1,)", true),
        ("(1,\"\")", "(1,x)", true),
        ("(1,x)", "(1,x,new)", false),
        ("(1,x,y)", "(1,x)", true),
        ("?", "(1)", true),
    ] {
        assert_eq!(loses(old, new), lost, "{old} {new}");
    }
}
