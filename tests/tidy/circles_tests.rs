//! Shows which circles are found, and which arrows make none.

use super::*;

/// The findings in a house of these files, as `path: text`.
fn circles(files: &[(&str, &str)]) -> Vec<String> {
    let project: Vec<_> = files.iter().map(|(path, text)| Source::sample(path, text)).collect();
    House::read(&project).circles().iter().map(Finding::to_string).collect()
}

/// A house of `store/mod.rs` with these lines, and two children.
fn store(parent: &str, one: &str, other: &str) -> Vec<String> {
    let parent = format!("mod one; mod other; {parent}");
    circles(&[
        ("src/lib.rs", "pub mod store;"),
        ("src/store/mod.rs", parent.as_str()),
        ("src/store/one.rs", one),
        ("src/store/other.rs", other),
    ])
}

#[test]
fn two_files_that_name_each_other_are_found_in_every_way_of_writing_it() {
    for one in [
        "use super::other::B; pub struct A;",
        "use super::{other::{B}}; pub struct A;",
        "use super::B; pub struct A;",
        "use crate::store::B as C; pub struct A;",
        "use super::other; pub struct A(other::B);",
        "pub struct A(crate::store::other::B);",
        "pub struct A; fn a() { vec![super::B]; }",
        "pub struct A; fn a() { use super::{B}; }",
        "pub struct A; mod inner { use super::super::B; }",
        "pub struct A; impl A { fn a() -> impl Sized + use<> { vec![super::B] } }",
    ] {
        let found = store("pub use other::B;", one, "use super::one::A; pub struct B;");
        assert_eq!(found.len(), 1, "{one}: {found:?}");
        let told = "src/store/one.rs:1: a circle of files: src/store/one.rs → src/store/other.rs → src/store/one.rs";
        assert!(found[0].starts_with(told), "{found:?}");
    }
}

#[test]
fn an_item_that_a_macro_makes_counts_too() {
    let found = store("", "use super::other::B; pub struct A;", "use super::one::A; text_enum! { B { } }");
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_long_circle_is_found_once() {
    let files = [
        ("src/lib.rs", "pub mod a;"),
        ("src/a/mod.rs", "mod b; mod c; mod d;"),
        ("src/a/b.rs", "use super::c::C; pub struct B;"),
        ("src/a/c.rs", "use super::d::D; pub struct C;"),
        ("src/a/d.rs", "use super::b::B; pub struct D;"),
    ];
    let found = circles(&files);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("src/a/b.rs → src/a/c.rs → src/a/d.rs → src/a/b.rs"), "{found:?}");
}

#[test]
fn a_parent_and_its_children_may_name_each_other() {
    assert_eq!(store("pub struct Store(one::A);", "use super::Store; pub struct A;", ""), Vec::<String>::new());
}

#[test]
fn a_parent_hides_no_circle_with_a_file_beside_it() {
    let beside = |inner: &str, beside: &str, parent: &str| {
        circles(&[
            ("src/lib.rs", "pub mod top;"),
            ("src/top/mod.rs", "mod room; mod beside;"),
            ("src/top/room/mod.rs", &format!("mod inner; {parent}")),
            ("src/top/room/inner.rs", inner),
            ("src/top/beside.rs", beside),
        ])
    };
    let up =
        beside("use super::R; pub struct I;", "use super::room::inner::I; pub struct B;", "use super::beside::B; pub struct R;");
    let down =
        beside("use crate::top::beside::B; pub struct I;", "use super::room::R; pub struct B;", "use inner::I; pub struct R;");
    assert!(up.len() == 1 && down.len() == 1, "{up:?} {down:?}");
}

#[test]
fn an_arrow_from_one_folder_to_another_is_found() {
    let files = [
        ("src/lib.rs", "pub mod a;"),
        ("src/a/mod.rs", "mod b; mod c; pub use c::c::C;"),
        ("src/a/b/mod.rs", "mod b;"),
        ("src/a/b/b.rs", "use crate::a::C;"),
        ("src/a/c/mod.rs", "mod c;"),
        ("src/a/c/c.rs", "pub struct C;"),
    ];
    let project: Vec<_> = files.iter().map(|(path, text)| Source::sample(path, text)).collect();
    let house = House::read(&project);
    let found = house.between("src/a/b/", "src/a/c/");
    assert!(found.len() == 1 && found[0].to_string().starts_with("src/a/b/b.rs:1: "), "{found:?}");
    assert_eq!(house.between("src/a/c/", "src/a/b/"), []);
}

#[test]
fn signposts_tests_and_what_is_not_ours_are_no_arrows() {
    for (one, other) in [
        ("pub use super::other::B; pub struct A;", "use super::one::A; pub struct B;"),
        ("#[cfg(test)] mod tests { use crate::store::other::B; } pub struct A;", "use super::one::A; pub struct B;"),
        ("/// See [`super::other::B`].\npub struct A;", "use super::one::A; pub struct B;"),
        ("use sqlx::B; pub struct A;", "use super::one::A; pub struct B;"),
        ("pub struct A; fn a(it: A) { it.b(); }", "use super::one::A; pub fn b() {}"),
    ] {
        assert_eq!(store("", one, other), Vec::<String>::new(), "{one}");
    }
}
