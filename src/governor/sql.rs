//! The effects of SQL statements, read from their text alone: a prediction, so that a person is
//! asked before a statement runs and not after. It is no fence. It chooses the statement's login,
//! and Postgres refuses whatever that login may not do. If the reader was wrong, that refusal
//! becomes a question.

mod depth;
mod effects;
#[cfg(test)]
mod tests;
mod whole;
mod words;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use sqlparser::ast::{Cte, ObjectName, Query, Select, Statement, TableFactor, Visit, Visitor};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer};

pub use whole::{WholeLoss, whole_loss};

use crate::domain::Effect;

/// The prediction for one statement, or for several in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlClass {
    /// All of their effects; never empty.
    pub effects: BTreeSet<Effect>,
    /// The first word of the first one, in capitals.
    pub verb: String,
    /// The tables and other things that they name, each once, as written.
    pub objects: Vec<String>,
    /// Why nobody can tell their effects, if that is so.
    pub why: Option<String>,
}

/// The statements of a text, each as it is written there. If one of several cannot be read, the
/// whole text counts as one statement: the program does not guess the end of a statement, and
/// Postgres, which takes one at a time, refuses the text.
pub fn statements(text: &str) -> Vec<&str> {
    depth::on_own_stack(|| split(text))
}

fn split(text: &str) -> Vec<&str> {
    let pieces = pieces(text);
    if pieces.len() > 1 && pieces.iter().all(|piece| parse(piece).is_ok()) { pieces } else { vec![text] }
}

/// The parts of a text between its semicolons, without those of space and comments alone.
fn pieces(text: &str) -> Vec<&str> {
    let Ok(tokens) = Tokenizer::new(&PostgreSqlDialect {}, text).tokenize_with_location() else { return vec![text] };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let begins: Vec<usize> = lines.iter().scan(0, |end, line| Some(std::mem::replace(end, *end + line.len()))).collect();
    // The parser counts columns in characters.
    let offset = |location: Location| {
        let line = usize::try_from(location.line).ok()?.checked_sub(1)?;
        let (begin, text) = (begins.get(line)?, lines.get(line)?);
        let before = usize::try_from(location.column).ok()?.checked_sub(1)?;
        text.char_indices().nth(before).map(|(at, _)| begin + at)
    };
    let (mut pieces, mut start, mut empty) = (Vec::new(), 0, true);
    for TokenWithSpan { token, span } in tokens {
        match token {
            Token::SemiColon => {
                let Some(end) = offset(span.start) else { return vec![text] };
                if !std::mem::replace(&mut empty, true) {
                    pieces.push(trimmed(&text[start..end]));
                }
                start = end + 1;
            }
            Token::Whitespace(_) | Token::EOF => {}
            _ => empty = false,
        }
    }
    if !empty {
        pieces.push(trimmed(&text[start..]));
    }
    pieces
}

/// The text without Postgres' space at both ends.
fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n', '\x0c'])
}

/// Reads one statement or several.
pub fn classify(text: &str) -> SqlClass {
    depth::on_own_stack(|| classify_all(text))
}

fn classify_all(text: &str) -> SqlClass {
    let mut classes = split(text).into_iter().map(classify_one);
    let first = classes.next().unwrap_or_else(|| classify_one(text));
    classes.fold(first, |mut all, class| {
        all.effects.extend(class.effects);
        for object in class.objects {
            if !all.objects.contains(&object) {
                all.objects.push(object);
            }
        }
        all.why = all.why.or(class.why);
        all
    })
}

fn classify_one(statement: &str) -> SqlClass {
    let tokens = Tokenizer::new(&PostgreSqlDialect {}, statement).tokenize().unwrap_or_default();
    let word = |token: &Token| if let Token::Word(word) = token { Some(word.value.to_ascii_uppercase()) } else { None };
    let verb = tokens.iter().find_map(word).unwrap_or_default();
    match parse(statement) {
        Ok(parsed) => {
            let look = Look::at(&parsed);
            // An empty list of effects would be allowed in every mode.
            let effects = if look.effects.is_empty() { [Effect::Opaque].into() } else { look.effects };
            SqlClass { effects, verb, objects: look.objects, why: look.why }
        }
        Err(why) => SqlClass { effects: [Effect::Opaque].into(), verb, objects: Vec::new(), why: Some(why) },
    }
}

/// The effects, in sentences for the person who decides.
pub fn in_words(text: &str) -> Vec<String> {
    depth::on_own_stack(|| split(text).into_iter().flat_map(one_in_words).collect())
}

fn one_in_words(statement: &str) -> Vec<String> {
    match parse(statement) {
        Ok(parsed) => {
            let mut sentences = words::sentences(&parsed);
            if let Some(why) = Look::at(&parsed).why {
                sentences.push(format!("What it does cannot be told beforehand: {why}."));
            }
            sentences
        }
        Err(why) => vec![format!("What this does cannot be told beforehand: {why}.")],
    }
}

/// To be called on a stack of the reader's own: the tree goes deep, and so do those who walk it.
fn parse(text: &str) -> Result<Statement, String> {
    let dialect = PostgreSqlDialect {};
    // The words of the reader's own error say nothing to the person who decides: the text may be
    // right for Postgres.
    let unread = || "it is written in a way that level3 does not read".to_owned();
    let mut tokens = Tokenizer::new(&dialect, text).tokenize_with_location().map_err(|_| unread())?;
    // `TABLE notes` is short for this, and the parser reads the short form wrongly.
    let first = tokens.iter().position(|token| !matches!(token.token, Token::Whitespace(_)));
    let is_table = |at: &usize| matches!(&tokens[*at].token, Token::Word(word) if word.keyword == Keyword::TABLE);
    if let Some(at) = first.filter(is_table) {
        let meant = ["SELECT", "*", "FROM"].join(" ");
        let meant = Tokenizer::new(&dialect, &meant).tokenize_with_location().map_err(|_| unread())?;
        tokens.splice(at..=at, meant);
    }
    if depth::depth(&tokens) > depth::DEEPEST {
        return Err("it is nested too deep, or too long a chain, for level3 to read".to_owned());
    }
    let mut parser = Parser::new(&dialect).with_tokens_with_locations(tokens);
    let mut statements = parser.parse_statements().map_err(|_| unread())?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement), true) => Ok(statement),
        (None, _) => Err("there is no statement".to_owned()),
        (Some(_), false) => Err("there is more than one statement".to_owned()),
    }
}

/// The findings on the way through a statement.
#[derive(Default)]
struct Look {
    effects: BTreeSet<Effect>,
    objects: Vec<String>,
    why: Option<String>,
    /// Names that stand for a part of the statement itself.
    own_names: BTreeSet<String>,
    /// True inside an EXPLAIN that runs nothing.
    explained: bool,
}

impl Look {
    fn at(statement: &Statement) -> Self {
        let mut look = Self::default();
        let _ = statement.visit(&mut look);
        look.objects.retain(|name| !look.own_names.contains(name));
        look
    }

    fn add(&mut self, effect: Effect) {
        if !self.explained {
            self.effects.insert(effect);
        }
    }

    fn opaque(&mut self, why: String) {
        self.effects.insert(Effect::Opaque);
        self.why.get_or_insert(why);
    }

    fn object(&mut self, name: String) {
        if !self.objects.contains(&name) {
            self.objects.push(name);
        }
    }

    fn own(&mut self, ctes: &[Cte]) {
        self.own_names.extend(ctes.iter().map(|cte| cte.alias.name.to_string()));
    }
}

impl Visitor for Look {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<()> {
        if let Statement::Explain { .. } = statement {
            self.effects.insert(Effect::Read);
            self.explained = effects::only_explained(statement);
            return ControlFlow::Continue(());
        }
        match effects::of(statement) {
            Ok(effect) => self.add(effect),
            Err(_) if self.explained => {}
            Err(why) => self.opaque(why),
        }
        for name in effects::named(statement) {
            self.object(name);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.add(Effect::Read);
        self.own(query.with.as_ref().map_or(&[], |with| &with.cte_tables));
        if !query.locks.is_empty() {
            self.add(Effect::Write);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        if let Some(into) = &select.into {
            self.add(Effect::Define);
            for target in &into.targets {
                self.object(target.to_string());
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.object(relation.to_string());
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: Some(_), .. } = factor {
            self.own_names.insert(name.to_string());
        }
        ControlFlow::Continue(())
    }
}
