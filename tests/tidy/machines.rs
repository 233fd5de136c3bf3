//! State machines without an arm for the rest: a new state, or a new input, does not compile until
//! somebody has said what it does.

use syn::visit::{self, Visit};

use super::files::{Finding, Source};

/// Each `_` in an arm of a file that has a machine, the functions beside it included.
pub fn arms(file: &Source) -> Vec<Finding> {
    let read = read(file);
    let found =
        |line: &usize| file.finding(*line, "a state machine has no `_` arm: name the states and the inputs that are left");
    if read.machines == 0 { Vec::new() } else { read.wild.iter().map(found).collect() }
}

/// How many machines stand in a file.
pub fn count(file: &Source) -> usize {
    read(file).machines
}

fn read(file: &Source) -> Arms {
    let mut arms = Arms::default();
    arms.visit_file(&syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path)));
    arms
}

#[derive(Default)]
struct Arms {
    machines: usize,
    in_pattern: bool,
    wild: Vec<usize>,
}

impl<'ast> Visit<'ast> for Arms {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of = item.trait_.as_ref().and_then(|(of, _)| of.segments.last());
        self.machines += usize::from(of.is_some_and(|of| of.ident == "Machine"));
        visit::visit_item_impl(self, item);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.in_pattern = true;
        self.visit_pat(&arm.pat);
        self.in_pattern = false;
        self.visit_expr(&arm.body);
    }

    fn visit_pat_wild(&mut self, wild: &'ast syn::PatWild) {
        if self.in_pattern {
            self.wild.push(wild.underscore_token.span.start().line);
        }
    }
}

#[test]
fn an_arm_for_the_rest_is_found_in_a_machine_and_in_what_helps_it() {
    const WHOLE: &str = "impl Machine for A { fn next(self, input: B) { match (self, input) { (Self::C, B::D) => 1, _ => 2 } } }";
    const HALF: &str =
        "impl domain::Machine for A {}\nimpl A {\n fn way(self) { match self { Self::C => 1,\n (_, B::D) => 2 } } }";
    for (text, line) in [(WHOLE, 1), (HALF, 4)] {
        let found = arms(&Source::sample("src/a.rs", text));
        assert!(found.len() == 1 && found[0].to_string().starts_with(&format!("src/a.rs:{line}: ")), "{found:?}");
        assert_eq!(count(&Source::sample("src/a.rs", text)), 1);
    }
    for text in [
        "impl Machine for A { fn next(self) { match self { Self::C | Self::D => { let _ = 1; |_| 2 } } } }",
        "impl A { fn next(self) { match self { Self::C => 1, _ => 2 } } }",
    ] {
        assert_eq!(arms(&Source::sample("src/a.rs", text)), [], "{text}");
    }
}
