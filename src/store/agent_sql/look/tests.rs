//! Tests of `store::agent_sql::look`.

use super::*;

fn image(things: &[(&str, &str, &str, bool)]) -> Image {
    let thing = |what: &str, mark: &str, new| Thing { what: what.into(), effect: Effect::Opaque, mark: mark.into(), new };
    things.iter().map(|(key, what, mark, new)| ((*key).to_owned(), thing(what, mark, *new))).collect()
}

#[test]
fn what_another_transaction_did_meanwhile_is_not_asked_about() {
    let table = ("relation 1", "the table `a`", "", false);
    let code = |mark| ("code 2", "the function `f()`", mark, true);
    let (all, none) = (image(&[table, code("x")]), image(&[]));
    assert_eq!(compare(&all, &none, &none), None, "dropped by another");
    assert_eq!(compare(&none, &all, &all), None, "made by another");
    assert_eq!(compare(&all, &image(&[table, code("y")]), &image(&[table, code("y")])), None, "changed by another");
    let words = |finding: Option<Finding>| finding.unwrap().why.join(" ");
    assert_eq!(words(compare(&all, &none, &all)), "Drops the function `f()`. Drops the table `a`.");
    assert_eq!(words(compare(&none, &all, &none)), "Makes the function `f()`.");
    assert_eq!(words(compare(&all, &image(&[table, code("y")]), &all)), "Changes the function `f()`.");
}

#[test]
fn what_another_transaction_made_meanwhile_is_asked_about_if_it_is_lost() {
    let none = image(&[]);
    let came = image(&[("relation 1", "the table `a`", "r", false), ("column 1 1", "the column `b` of `a`", "", false)]);
    assert_eq!(compare(&none, &none, &came).unwrap().why, ["Drops the table `a`."]);
    // The look before does not show the rows of an empty table.
    let empty = image(&[("relation 1", "the table `a`", "r", false)]);
    let rows = |mark| image(&[("relation 1", "the table `a`", "r", false), ("rows 1", "the rows of `a`", mark, false)]);
    assert_eq!(compare(&empty, &rows("8"), &rows("7")), None, "nothing was in it");
    let anew = compare(&none, &rows("8"), &rows("7")).unwrap();
    assert_eq!(anew.why, ["Writes the rows of `a` anew; what was in them may be gone."]);
}

#[test]
fn of_a_table_that_is_gone_only_the_table_is_named() {
    let before = image(&[
        ("relation 1", "the table `a`", "", false),
        ("column 1 2", "the column `b` of `a`", "", false),
        ("rows 1", "the rows of `a`", "7", false),
    ]);
    assert_eq!(compare(&before, &image(&[]), &before).unwrap().why, ["Drops the table `a`."]);
}
