//! How deep the tree of a statement may be. The parser bounds how deep it goes itself, but builds
//! `1 + 1 + 1 …` in a loop, and the walk through that tree and its end go down link by link: a long
//! chain is more than the stack of a thread bears, and the server would die of it.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};

/// A deeper statement is not parsed. In a debug build a link takes some 140 bytes of the stack, so
/// these are less than a tenth of [`STACK`].
pub(super) const DEEPEST: usize = 10_000;

/// A join counts as so many links: `a JOIN b JOIN c …` takes 70 KiB for each, and the parser has no
/// bound of its own there.
const JOIN: usize = 50;

/// The stack on which a tree is built, walked and dropped. It is taken from memory only as far as
/// it is used. The parser's own bound of 50 levels needs up to 4 MiB in a debug build (`EXPLAIN
/// EXPLAIN …`), more than a thread of the server has.
const STACK: usize = 32 << 20;

/// Reads on a stack that is large enough for every statement of which the parser makes a tree.
///
/// # Panics
/// If there is no thread to be had, as `std::thread::spawn` does.
pub(super) fn on_own_stack<T: Send>(read: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| match std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, read) {
        Ok(reader) => reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(error) => std::panic::panic_any(error.to_string()),
    })
}

/// The part of a statement between two brackets, without what is in brackets of its own.
#[derive(Default)]
struct Level {
    /// Its operators between queries: they link what commas part.
    sets: usize,
    /// Its tokens since the last comma.
    run: usize,
    /// The depth of the deepest brackets since then.
    inner: usize,
    /// The depth of the deepest part before that comma.
    deepest: usize,
}

impl Level {
    /// After a comma, something begins beside what was before, not above it.
    fn comma(&mut self) {
        self.deepest = self.depth_of_parts();
        (self.run, self.inner) = (0, 0);
    }

    fn depth_of_parts(&self) -> usize {
        self.deepest.max(self.run + self.inner)
    }

    fn close(&mut self, inner: &Self) {
        self.inner = self.inner.max(inner.sets + inner.depth_of_parts());
    }
}

/// A bound on the depth of the tree: each token between two commas may be a link above those before
/// it. A list may be as long as it likes.
pub(super) fn depth(tokens: &[TokenWithSpan]) -> usize {
    let (mut level, mut around) = (Level::default(), Vec::new());
    for token in tokens {
        match &token.token {
            Token::Whitespace(_) => {}
            Token::Comma => level.comma(),
            Token::LParen | Token::LBracket | Token::LBrace => {
                level.run += 1;
                around.push(std::mem::take(&mut level));
            }
            Token::RParen | Token::RBracket | Token::RBrace => {
                let inner = std::mem::replace(&mut level, around.pop().unwrap_or_default());
                level.close(&inner);
            }
            Token::Word(word)
                if matches!(word.keyword, Keyword::UNION | Keyword::INTERSECT | Keyword::EXCEPT | Keyword::MINUS) =>
            {
                level.sets += 1;
            }
            Token::Word(word) if word.keyword == Keyword::JOIN => level.run += JOIN,
            _ => level.run += 1,
        }
    }
    while let Some(mut outer) = around.pop() {
        outer.close(&level);
        level = outer;
    }
    level.sets + level.depth_of_parts()
}

#[cfg(test)]
mod tests;
