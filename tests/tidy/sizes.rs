//! How large things are: the bodies of functions, most files, and the rooms that help weak models.

use syn::visit::{self, Visit};

use super::files::{Finding, Source};

/// The most lines of code in the body of a function.
const LONGEST_BODY: usize = 80;

/// Functions whose bodies have more lines of code. Empty lines and comments do not count, and tests
/// are no part of the program.
pub fn functions(file: &Source) -> Vec<Finding> {
    let too_long = |body: &Body| body.lines > LONGEST_BODY;
    let finding = |Body { name, first, lines }: Body| {
        file.finding(first, format!("`{name}` has {lines} lines of code; {LONGEST_BODY} are the end: split it"))
    };
    bodies(file).into_iter().filter(too_long).map(finding).collect()
}

/// The lines of code in the body of the function of this name, the longest if there are several.
pub fn body(file: &Source, name: &str) -> Option<usize> {
    bodies(file).into_iter().filter(|body| body.name == name).map(|body| body.lines).max()
}

/// The body of a function: its name, the line of its opening bracket, counted from 1, and how many
/// lines of code it has.
struct Body {
    name: String,
    first: usize,
    lines: usize,
}

fn bodies(file: &Source) -> Vec<Body> {
    let mut bodies = Bodies::default();
    bodies.visit_file(&syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path)));
    let lines: Vec<_> = file.text.lines().map(str::trim).collect();
    let of_code = |line: &&&str| !line.is_empty() && !line.starts_with("//");
    let body = |(name, first, last): (String, usize, usize)| {
        let lines = lines.get(first..last.saturating_sub(1)).unwrap_or_default().iter().filter(of_code).count();
        Body { name, first, lines }
    };
    bodies.found.into_iter().map(body).collect()
}

/// The lines of a file that hold something.
pub fn lines(file: &Source) -> usize {
    file.text.lines().filter(|line| !line.trim().is_empty()).count()
}

/// The number below which this many of a hundred lie.
pub fn quantile(numbers: &[usize], of_hundred: usize) -> usize {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers[numbers.len() * of_hundred / 100]
}

/// Each function with the line of its opening bracket and that of its closing one, counted from 1.
#[derive(Default)]
struct Bodies {
    found: Vec<(String, usize, usize)>,
}

impl Bodies {
    fn add(&mut self, name: &syn::Ident, body: &syn::Block) {
        let brackets = &body.brace_token.span;
        self.found.push((name.to_string(), brackets.open().start().line, brackets.close().start().line));
    }
}

impl<'ast> Visit<'ast> for Bodies {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let is_test = |attribute: &syn::Attribute| {
            attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "test")
        };
        if !module.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.add(&function.sig.ident, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.add(&function.sig.ident, &function.block);
        visit::visit_impl_item_fn(self, function);
    }
}

#[test]
fn a_body_of_80_lines_passes_and_one_more_does_not() {
    let of =
        |lines: usize| Source::sample("src/a.rs", &format!("fn a(\n) {{\n{}\n    // Why.\n}}\n", "    b();\n\n".repeat(lines)));
    assert_eq!(functions(&of(80)), []);
    assert_eq!((body(&of(80), "a"), body(&of(80), "b")), (Some(80), None));
    let found = functions(&of(81));
    assert!(found.len() == 1 && found[0].to_string().starts_with("src/a.rs:2: `a` has 81 lines"), "{found:?}");
    let method = Source::sample("src/a.rs", &format!("impl A {{ async fn a() {{\n{}}} }}", "b();\n".repeat(81)));
    assert_eq!(functions(&method).len(), 1);
    let test = Source::sample("src/a.rs", &format!("#[cfg(test)]\nmod tests {{ fn a() {{\n{}}} }}", "b();\n".repeat(81)));
    assert_eq!(functions(&test), []);
    assert_eq!(functions(&Source::sample("src/a.rs", "fn a() {}\nfn b() { c() }")), []);
}

#[test]
fn a_quantile_is_the_number_at_its_place() {
    let hundred: Vec<_> = (1..=100).rev().collect();
    assert_eq!((quantile(&hundred, 50), quantile(&hundred, 90), quantile(&[7], 90)), (51, 91, 7));
    assert_eq!(lines(&Source::sample("src/a.rs", "//! A.\n\nfn a() {}\n  \n")), 2);
}
