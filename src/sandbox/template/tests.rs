//! Tests of `sandbox::template`.

use super::*;

#[test]
fn a_component_is_its_template_and_its_source() {
    let template = Template::new(&Grants::harmless()).unwrap();
    let (short, long) = (template.component(Kind::Run, "x"), template.component(Kind::Run, &"x".repeat(100_001)));
    assert!(short.len() < 3000, "{}", short.len());
    assert!((100_000..100_010).contains(&(long.len() - short.len())));
    assert_eq!(template.denied, 0b1111_1000);
}

#[test]
fn the_bits_of_what_was_denied_are_two_bytes_behind_the_kind() {
    let module = source_module(Kind::Run, 0x0180, "x");
    assert!(module.ends_with(&[1, 0x80, 0x01, 0, 1, 0, 0, 0, b'x']), "{module:?}");
}

#[test]
fn without_grants_nothing_of_the_host_is_imported() {
    let template = Template::new(&Grants::none()).unwrap();
    assert_eq!(template.denied, 0b1111_1111);
    let text = text(&Grants::none());
    let engine_type = text.find("(core module $substitutes").unwrap();
    assert!(!text[..engine_type].contains("(instance $"), "{text}");
}
