//! No circle of files. An arrow leads from a file that names an item to the file that defines it,
//! by whatever re-export the item was reached: `use super::Unit` in `store/queue/turns.rs` leads to
//! `store/unit.rs`. `mod x;` and `pub use …` alone are signposts and no arrows. Only names count,
//! not methods and fields, and files that exist for tests are not reached.
//!
//! A module and its parts are one thing, so a parent may name its children and they it: a circle is
//! refused unless it needs both an arrow from a module's own file down into the module and an arrow
//! from inside up to that file. Files of different modules at the top need no look: the floors
//! forbid it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proc_macro2::{Delimiter, TokenTree};

use super::arrows::{ROOTS, module_path};
use super::files::{Finding, Source};
use super::tokens;

/// Re-exports of re-exports are followed so far.
const DEEPEST: usize = 16;

/// The meaning of a name in a module.
#[derive(Clone)]
enum Name {
    Module,
    Item,
    /// An import: the path behind it.
    Import(Vec<String>),
}

/// One module with its names and the paths that its code uses.
struct Module {
    file: usize,
    names: BTreeMap<String, Name>,
    paths: Vec<Path>,
}

/// A path, and the line it stands on.
struct Path {
    words: Vec<String>,
    line: usize,
}

/// From file to file, with a line.
type Arrows = BTreeMap<usize, BTreeMap<usize, usize>>;

/// The modules of the program, and the files they stand in.
pub struct House<'a> {
    files: Vec<&'a Source>,
    homes: Vec<Vec<String>>,
    modules: BTreeMap<Vec<String>, Module>,
}

impl<'a> House<'a> {
    /// Reads all modules that the roots of the three crates lead to. A crate sees those of the ones
    /// below it under `crate`, so all are one house.
    pub fn read(project: &'a [Source]) -> Self {
        let files: Vec<_> = project.iter().filter(|file| file.path.starts_with("src/") && file.is_rust()).collect();
        let homes = files.iter().map(|file| module_path(&file.path)).collect();
        let mut house = Self { files, homes, modules: BTreeMap::new() };
        let mut rooms = BTreeMap::new();
        for (path, ..) in ROOTS {
            let Some(root) = house.files.iter().position(|file| file.path == path) else { continue };
            house.read_file(Vec::new(), root);
            let read = house.modules.get_mut(&Vec::new()).expect("the root was read");
            rooms.extend(std::mem::take(&mut read.names).into_iter().filter(|(_, name)| matches!(name, Name::Module)));
            read.names.clone_from(&rooms);
        }
        house
    }

    /// True for a file of the program that is not for tests only.
    pub fn holds(&self, file: &Source) -> bool {
        self.modules.values().any(|module| self.files[module.file].path == file.path)
    }

    /// How many arrows there are.
    pub fn count(&self) -> usize {
        self.arrows().values().map(BTreeMap::len).sum()
    }

    /// One finding for each circle.
    pub fn circles(&self) -> Vec<Finding> {
        let arrows = self.arrows();
        let without_up = kept(&arrows, |from, to| !self.is_above(to, from));
        let without_down = kept(&arrows, |from, to| !self.is_above(from, to));
        let circles: BTreeSet<_> = shortest(&without_up).into_iter().chain(shortest(&without_down)).collect();
        circles.iter().map(|circle| self.finding(circle, &arrows)).collect()
    }

    /// A finding for each arrow from a file of one folder to a file of another.
    pub fn between(&self, from: &str, to: &str) -> Vec<Finding> {
        let arrows = self.arrows();
        let of = |(from, to): (&usize, &BTreeMap<usize, usize>)| {
            let from = self.files[*from];
            to.iter().map(move |(to, line)| (from, self.files[*to], *line)).collect::<Vec<_>>()
        };
        let all = arrows.iter().flat_map(of);
        all.filter(|(file, target, _)| file.path.starts_with(from) && target.path.starts_with(to))
            .map(|(file, target, line)| {
                file.finding(line, format!("{from} imports nothing of {to}, and this is in {}", target.path))
            })
            .collect()
    }

    fn finding(&self, circle: &[usize], arrows: &Arrows) -> Finding {
        let way: Vec<_> = circle.iter().chain(&circle[..1]).map(|file| self.files[*file].path.as_str()).collect();
        let line = arrows[&circle[0]][circle.get(1).unwrap_or(&circle[0])];
        let told = format!("a circle of files: {}; move what they share into a file of its own", way.join(" → "));
        self.files[circle[0]].finding(line, told)
    }

    /// True when the second file stands inside the module that the first one is.
    fn is_above(&self, one: usize, other: usize) -> bool {
        self.homes[other].len() > self.homes[one].len() && self.homes[other].starts_with(&self.homes[one])
    }

    fn read_file(&mut self, module: Vec<String>, file: usize) {
        let tokens = tokens::without_tests(&tokens::of(self.files[file]));
        self.read_module(module, file, &tokens);
    }

    fn read_module(&mut self, module: Vec<String>, file: usize, all: &[TokenTree]) {
        let mut read = Module { file, names: BTreeMap::new(), paths: Vec::new() };
        let mut at = 0;
        while at < all.len() {
            let next = tokens::word(all.get(at + 1));
            match (tokens::word(all.get(at)).as_deref(), next) {
                (Some("mod"), Some(name)) => {
                    let inner: Vec<_> = module.iter().chain([&name]).cloned().collect();
                    match all.get(at + 2) {
                        Some(TokenTree::Group(body)) => self.read_module(inner, file, &tokens::inside(body)),
                        _ => {
                            let file = self.homes.iter().position(|home| *home == inner);
                            self.read_file(inner, file.unwrap_or_else(|| panic!("there is no file of `mod {name}`")));
                        }
                    }
                    read.names.insert(name, Name::Module);
                    at += 3;
                }
                _ if is_import(all, at) => {
                    let is_signpost = is_public(all, at);
                    let mut imports = Vec::new();
                    at = imported(all, at + 1, &[], &mut imports);
                    for (name, path) in imports {
                        read.names.insert(name, Name::Import(path.words.clone()));
                        if !is_signpost {
                            read.paths.push(path);
                        }
                    }
                }
                (word, next) => {
                    if let Some(name) = defined(word, next, all, at) {
                        read.names.entry(name).or_insert(Name::Item);
                    }
                    at = used(all, at, &mut read.paths);
                }
            }
        }
        self.modules.insert(module, read);
    }

    fn arrows(&self) -> Arrows {
        let mut arrows = Arrows::new();
        for (place, module) in &self.modules {
            for path in &module.paths {
                let Some(file) = self.home(place, &path.words, DEEPEST) else { continue };
                if file != module.file {
                    arrows.entry(module.file).or_default().entry(file).or_insert(path.line);
                }
            }
        }
        arrows
    }

    /// The file in which the item of this path is defined; `None` for a module, and for what is not
    /// ours.
    fn home(&self, place: &[String], path: &[String], depth: usize) -> Option<usize> {
        let mut at = place.to_vec();
        let mut is_ours = false;
        for (number, word) in path.iter().enumerate() {
            match word.as_str() {
                "crate" => at.clear(),
                "super" => drop(at.pop()),
                "self" => {}
                name => match self.modules.get(&at)?.names.get(name) {
                    Some(Name::Module) => at.push(name.to_owned()),
                    Some(Name::Item) => return Some(self.modules[&at].file),
                    Some(Name::Import(target)) if depth > 0 && target.as_slice() != [name] => {
                        let whole: Vec<_> = target.iter().chain(&path[number + 1..]).cloned().collect();
                        return self.home(&at, &whole, depth - 1);
                    }
                    Some(Name::Import(_)) => return None,
                    // A macro of this module makes it.
                    None => return is_ours.then(|| self.modules[&at].file),
                },
            }
            is_ours = true;
        }
        None
    }
}

/// The name of the item that begins here, if one does.
fn defined(word: Option<&str>, next: Option<String>, all: &[TokenTree], at: usize) -> Option<String> {
    match word? {
        "macro_rules" => tokens::word(all.get(at + 2)),
        "struct" | "enum" | "fn" | "trait" | "const" | "static" | "type" | "union" => next,
        _ => None,
    }
}

/// True for the `use` of an import; `use<…>` says what a type captures.
fn is_import(all: &[TokenTree], at: usize) -> bool {
    tokens::word(all.get(at)).as_deref() == Some("use") && !tokens::is_punct(all, at + 1, '<')
}

/// True for `pub use`, `pub(super) use` and the like.
fn is_public(all: &[TokenTree], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|at| all.get(at));
    let is_pub = |token: Option<&TokenTree>| tokens::word(token).as_deref() == Some("pub");
    is_pub(before(1)) || matches!(before(1), Some(TokenTree::Group(_))) && is_pub(before(2))
}

/// Reads a tree of imports, each with the name it gets; gives back where to read on.
fn imported(all: &[TokenTree], mut at: usize, prefix: &[String], found: &mut Vec<(String, Path)>) -> usize {
    let mut words = prefix.to_vec();
    let mut line = 0;
    while let Some(token) = all.get(at) {
        match token {
            TokenTree::Ident(word) if *word == "as" => {
                let name = tokens::word(all.get(at + 1)).unwrap_or_default();
                found.push((name, Path { words, line }));
                return at + 2;
            }
            TokenTree::Ident(word) => {
                words.push(word.to_string());
                line = tokens::line(token);
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let members = tokens::inside(group);
                let mut member = 0;
                while member < members.len() {
                    member = imported(&members, member, &words, found);
                    member += usize::from(tokens::is_punct(&members, member, ','));
                }
                return at + 1;
            }
            TokenTree::Punct(punct) if [',', ';'].contains(&punct.as_char()) => break,
            _ => {}
        }
        at += 1;
    }
    if words.last().is_some_and(|last| last == "self") {
        words.pop();
    }
    found.push((words.last().cloned().unwrap_or_default(), Path { words, line }));
    at
}

/// Collects the paths that begin at this token or stand in its brackets; gives back where to read
/// on.
fn used(all: &[TokenTree], at: usize, found: &mut Vec<Path>) -> usize {
    match &all[at] {
        TokenTree::Group(group) => {
            let inner = tokens::inside(group);
            let mut next = 0;
            while next < inner.len() {
                if is_import(&inner, next) {
                    let mut imports = Vec::new();
                    next = imported(&inner, next + 1, &[], &mut imports);
                    found.extend(imports.into_iter().map(|(_, path)| path));
                } else {
                    next = used(&inner, next, found);
                }
            }
            at + 1
        }
        TokenTree::Ident(first) => {
            let (mut words, mut end) = (vec![first.to_string()], at);
            while tokens::is_path_separator(all, end + 1)
                && let Some(word) = tokens::word(all.get(end + 3))
            {
                words.push(word);
                end += 3;
            }
            // Fields, methods, lifetimes, and the rest of a path with brackets in it have no home
            // of their own.
            let before = |what| at > 0 && tokens::is_punct(all, at - 1, what);
            if !(before('.') || before(':') && at > 1 && tokens::is_punct(all, at - 2, ':') || before('\'')) {
                found.push(Path { words, line: tokens::line(&all[at]) });
            }
            end + 1
        }
        _ => at + 1,
    }
}

fn kept(arrows: &Arrows, counts: impl Fn(usize, usize) -> bool) -> Arrows {
    let mut kept = arrows.clone();
    for (from, to) in &mut kept {
        to.retain(|to, _| counts(*from, *to));
    }
    kept
}

/// The shortest way from each file back to itself, told once: by the first of its files.
fn shortest(arrows: &Arrows) -> Vec<Vec<usize>> {
    let circles = arrows.keys().filter_map(|file| way_back(arrows, *file));
    circles.filter(|circle| circle.iter().min() == circle.first()).collect()
}

fn way_back(arrows: &Arrows, start: usize) -> Option<Vec<usize>> {
    let mut came_from: BTreeMap<usize, usize> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(file) = waiting.pop_front() {
        for to in arrows.get(&file).into_iter().flat_map(BTreeMap::keys) {
            if *to == start {
                let mut way = vec![file];
                while let Some(before) = came_from.get(&way[way.len() - 1]) {
                    way.push(*before);
                }
                way.reverse();
                return Some(way);
            }
            if let std::collections::btree_map::Entry::Vacant(unseen) = came_from.entry(*to) {
                unseen.insert(file);
                waiting.push_back(*to);
            }
        }
    }
    None
}

#[cfg(test)]
#[path = "circles_tests.rs"]
mod tests;
