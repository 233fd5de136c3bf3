//! Capabilities that compute, and refused ones.

use serde_json::{Value, json};

use super::{Check, Task};
use crate::support::{Peer, call, text as says};

/// Arguments of `write_capability`.
pub fn written(name: &str, code: &str, parameters: &[(&str, &str)]) -> Value {
    let properties: serde_json::Map<_, _> =
        parameters.iter().map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind }))).collect();
    let required: Vec<_> = parameters.iter().map(|(name, _)| *name).collect();
    json!({
        "name": name,
        "description": format!("For the evaluation: {name}."),
        "code": code,
        "parameters_schema": {"type": "object", "properties": properties, "required": required},
    })
}

fn gives(name: &'static str, arguments: Value, result: Value) -> Check {
    Check::Gives(name, arguments, result)
}

pub fn text(_: &Peer) -> Task {
    let code = "export default async function count_vowels(params) { return (params.text.match(/[aeiou]/gi) || []).length; }";
    Task::new(
        "text",
        "Build a capability `count_vowels` with one string parameter `text` that returns how many vowels (a, e, i, o, u, in either \
         case) the text has, as a number. Then call it with the text \"An Agent that extends itself\".",
    )
    .called("count_vowels")
    .check(gives("count_vowels", json!({"text": "AEIOU xyz aeiou"}), json!(10)))
    .check(gives("count_vowels", json!({"text": "rhythm"}), json!(0)))
    .right([
        call("write_capability", written("count_vowels", code, &[("text", "string")])),
        call("count_vowels", json!({"text": "An Agent that extends itself"})),
        says("It has 9 vowels."),
    ])
}

pub fn dates(_: &Peer) -> Task {
    let code = "export default async function add_days(params) {
        return new Date(Date.parse(params.date) + params.days * 86400000).toISOString().slice(0, 10); }";
    Task::new(
        "dates",
        "Build a capability `add_days` with the string parameter `date` (like 2026-02-01) and the integer parameter `days` that returns \
         the date so many days later, written in the same way. Use it for 45 days after 2026-11-20.",
    )
    .called("add_days")
    .check(gives("add_days", json!({"date": "2024-02-28", "days": 2}), json!("2024-03-01")))
    .check(gives("add_days", json!({"date": "2026-12-31", "days": 1}), json!("2027-01-01")))
    .right([
        call("write_capability", written("add_days", code, &[("date", "string"), ("days", "integer")])),
        call("add_days", json!({"date": "2026-11-20", "days": 45})),
        says("That is 4 January 2027."),
    ])
}

pub fn arithmetic(_: &Peer) -> Task {
    let code = "export default async function gcd(params) { let [a, b] = [params.a, params.b]; while (b) [a, b] = [b, a % b]; return a; }";
    Task::new(
        "arithmetic",
        "Build a capability `gcd` with the integer parameters `a` and `b` that returns their greatest common divisor. Then use it for \
         1071 and 462.",
    )
    .called("gcd")
    .check(gives("gcd", json!({"a": 48, "b": 180}), json!(12)))
    .check(gives("gcd", json!({"a": 17, "b": 5}), json!(1)))
    .right([
        call("write_capability", written("gcd", code, &[("a", "integer"), ("b", "integer")])),
        call("gcd", json!({"a": 1071, "b": 462})),
        says("It is 21."),
    ])
}

pub fn fix_syntax(_: &Peer) -> Task {
    let broken =
        "export default async function initials(params) { return params.name.split(' ').map((word => word[0]).join(''); }";
    let whole =
        "export default async function initials(params) { return params.name.split(' ').map((word) => word[0]).join(''); }";
    Task::new(
        "fix_syntax",
        format!(
            "Install this as the capability `initials`, with one string parameter `name`. It gives the first letters of the words of a \
             name. If it is refused, correct it and install it again.\n```js\n{broken}\n```"
        ),
    )
    .check(gives("initials", json!({"name": "Ada Lovelace"}), json!("AL")))
    .check(gives("initials", json!({"name": "Grace Brewster Hopper"}), json!("GBH")))
    .right([
        call("write_capability", written("initials", broken, &[("name", "string")])),
        call("write_capability", written("initials", whole, &[("name", "string")])),
        says("It is installed; a parenthesis was missing."),
    ])
}

pub fn fix_test(_: &Peer) -> Task {
    let middle = |sorted: &str| {
        format!("export default async function median(params) {{ const n = {sorted}; return n[(n.length - 1) / 2]; }}")
    };
    let wrong = middle("params.numbers.sort()");
    let tests = json!([{"params": {"numbers": [10, 9, 100]}, "expect": 10}]);
    let with_tests = |code: &str| {
        let mut written = written("median", code, &[]);
        written["parameters_schema"] = json!({"type": "object", "properties": {"numbers": {"type": "array", "items": {"type": "number"}}}, "required": ["numbers"]});
        written["tests"] = tests.clone();
        written
    };
    Task::new(
        "fix_test",
        format!(
            "Install the capability `median` with one parameter `numbers`, an array of an odd count of numbers, together with these \
             tests: {tests}. Begin with this code; if its test fails, correct the code, not the test.\n```js\n{wrong}\n```"
        ),
    )
    .check(gives("median", json!({"numbers": [10, 9, 1, 100, 2]}), json!(9)))
    .sql("SELECT jsonb_array_length(tests) > 0 FROM capability_versions WHERE name = 'median' ORDER BY version DESC LIMIT 1", "true")
    .right([
        call("write_capability", with_tests(&wrong)),
        call("write_capability", with_tests(&middle("params.numbers.toSorted((a, b) => a - b)"))),
        says("Installed: it sorted numbers as words before."),
    ])
}
