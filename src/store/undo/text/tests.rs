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
fn a_row_that_follows_another_has_the_old_key_and_all_else_as_it_was_left() {
    for (old, new, places, row) in [
        ("(1,2)", "(1,20)", &[1][..], Some("(1,2)")),
        (r#"("a,""b""",x,2)"#, r#"("c,d",y,20)"#, &[2], Some(r#"("c,d",y,2)"#)),
        ("(1,2)", "(1,)", &[1], Some("(1,2)")),
        ("(1,2)", "(9,2)", &[1], None),
        ("(1)", "(1,20)", &[1], None),
        ("(1,2)", "(1,20)", &[], None),
    ] {
        assert_eq!(followed(old, new, places).as_deref(), row, "{old} {new}");
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
