//! The routes of `/api` and the tables of `docs/api.md`: each route stands in the document, and the
//! document names no other.

use std::collections::BTreeMap;

use super::files::{Finding, Source};

/// The file that mounts the interface, and the address that it is mounted at.
const ROOT: (&str, &str) = ("src/http/api/mod.rs", "/api");

/// The methods that a router has a function for.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// A method and an address, in which each place for a value is `{}`: a place may have one name in
/// the code and another in the document.
type Route = (String, String);

/// Each route with the line that names it.
type Lines<'a> = BTreeMap<Route, (&'a Source, usize)>;

/// Routes that the document leaves out, and routes of the document that are not there.
pub fn check(project: &[Source], document: &Source) -> Vec<Finding> {
    let (mounted, documented) = (mounted(project), documented(document));
    let named = |(method, path): &Route| format!("`{} {path}`", method.to_uppercase());
    let missing = mounted.iter().filter(|(route, _)| !documented.contains_key(*route));
    let missing = missing.map(|(route, (file, line))| {
        file.finding(*line, format!("{} does not have {}, whatever its places are called", document.path, named(route)))
    });
    let gone = documented.iter().filter(|(route, _)| !mounted.contains_key(*route));
    let gone = gone.map(|(route, (file, line))| file.finding(*line, format!("there is no route {}", named(route))));
    missing.chain(gone).collect()
}

/// The routes of the interface, those of the routers that are nested in it among them.
pub fn mounted(project: &[Source]) -> Lines<'_> {
    let (path, under) = ROOT;
    let root = project.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("there is no {path}"));
    let folder = path.trim_end_matches("mod.rs");
    let mut routes = routes_of(root, under);
    for nested in root.text.split(".nest(\"").skip(1) {
        let (below, rest) = nested.split_once("\", ").expect("an address and a router");
        let (module, _) = rest.split_once("::").expect("the router of a module");
        let is_its = |file: &&Source| [format!("{folder}{module}.rs"), format!("{folder}{module}/mod.rs")].contains(&file.path);
        let file = project.iter().find(is_its).unwrap_or_else(|| panic!("no file has the router of `{module}`"));
        routes.extend(routes_of(file, &format!("{under}{below}")));
    }
    routes
}

fn routes_of<'a>(file: &'a Source, under: &str) -> Lines<'a> {
    let mut routes = Lines::new();
    for (at, start) in file.text.match_indices(".route(\"") {
        let line = file.text[..at].matches('\n').count() + 1;
        let (path, rest) = file.text[at + start.len()..].split_once('"').expect("the end of the address");
        let mounts = &rest[..closing(rest)];
        let takes = |method: &str| [" ", "."].iter().any(|before| mounts.contains(&format!("{before}{method}(")));
        for method in METHODS.into_iter().filter(|method| takes(method)) {
            routes.insert((method.to_owned(), without_names(&format!("{under}{path}"))), (file, line));
        }
    }
    routes
}

/// The place of the bracket that closes the one before this text.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    let closes = |letter: char| {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    };
    text.find(closes).expect("a bracket that closes")
}

/// The address with `{}` for each place.
fn without_names(path: &str) -> String {
    let mut parts = path.split('{');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |whole, part| whole + "{}" + part.split_once('}').map_or("", |(_, rest)| rest))
}

/// The routes in the first cells of the document's tables. A table that is headed `route below` an
/// address leaves that out; a route without a method has that of the one before it, and differs
/// from it in the last part.
fn documented(document: &Source) -> Lines<'_> {
    let mut routes = Lines::new();
    let mut below = "";
    for (line, text) in document.text.lines().enumerate().map(|(at, text)| (at + 1, text)) {
        if text.starts_with('#') {
            below = "";
        }
        let Some(cell) = text.strip_prefix('|').and_then(|row| row.split(" | ").next()) else { continue };
        let mut spans = cell.split('`').skip(1).step_by(2);
        if cell.contains("route below") {
            below = spans.next().unwrap_or_default();
            continue;
        }
        let mut last = (String::new(), String::new());
        for span in spans {
            let (method, path) = match span.split_once(' ') {
                Some((method, path)) if path.starts_with(ROOT.1) => (method.to_lowercase(), path.to_owned()),
                Some((method, path)) => (method.to_lowercase(), format!("{below}{path}")),
                None => (last.0, format!("{}{span}", last.1.rsplit_once('/').map_or("", |(parent, _)| parent))),
            };
            let path = path.split('?').next().unwrap_or_default().to_owned();
            routes.insert((method.clone(), without_names(&path)), (document, line));
            last = (method, path);
        }
    }
    routes
}

#[test]
fn a_document_with_other_routes_is_found_out() {
    let root = "Router::new().route(\"/a\", get(a::list).post(a::make)).nest(\"/b\", b::routes())\n\
                .route(\"/a/{id}\", delete(a::end))";
    let below = "Router::new()\n    .route(\"/{kind}/up\", post(up))\n    .route(\"/{kind}/down\", post(down))";
    let project = [Source::sample("src/http/api/mod.rs", root), Source::sample("src/http/api/b.rs", below)];
    let document = |rows: &str| Source::sample("docs/api.md", rows);
    let whole = "| `GET /api/a?all=true`, `POST /api/a` | all |\n| `DELETE /api/a/{number}` | ends |\n\n## B\n\n\
                 | route below `/api/b` | |\n|---|---|\n| `POST /{what}/up`, `/down` | `GET /api/z` is no route of ours |\n";
    assert_eq!(mounted(&project).len(), 5);
    assert_eq!(check(&project, &document(whole)), []);
    let told = |rows: &str| check(&project, &document(rows)).iter().map(ToString::to_string).collect::<Vec<_>>();
    let lacks = |line: &str, route: &str| format!("{line}: docs/api.md does not have `{route}`, whatever its places are called");
    assert_eq!(told(&whole.replace("`, `/down", "")), [lacks("src/http/api/b.rs:3", "POST /api/b/{}/down")]);
    assert_eq!(
        told(&whole.replace("DELETE", "PUT")),
        [lacks("src/http/api/mod.rs:2", "DELETE /api/a/{}"), "docs/api.md:2: there is no route `PUT /api/a/{}`".to_owned()]
    );
    assert_eq!(told(&(whole.to_owned() + "| `GET /gone` | |\n")), ["docs/api.md:9: there is no route `GET /api/b/gone`"]);
}
