//! The size of a request: the agent counts bytes, estimates tokens from them, and corrects both by
//! the counts and refusals of providers.
//!
//! Nothing here is truth. It is kept in memory, so that a conversation that was once too long is
//! not found too long again in each turn; a restart forgets it, and the price is one refused
//! request.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::domain::{ConversationId, SharedSpec, Usage};
use crate::model::{Entry, Model};

/// The most tokens that stay free for an answer; in a small context a quarter stays free.
const ANSWER_TOKENS: usize = 8 * 1024;
/// Bytes of JSON around an entry, and around a tool or a call of one.
const AROUND_ENTRY: usize = 16;
const AROUND_CALL: usize = 60;
/// The bytes that an image counts as, whatever the size of its file: models cut it into tiles, as a
/// rule one to two thousand tokens of them.
const IMAGE: usize = 6000;
/// The most conversations and models that are remembered. Beyond that the program forgets all,
/// which costs little.
const REMEMBERED: usize = 1024;

/// The bytes of a token, in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ratio(usize);

impl Ratio {
    /// The ratio before a provider has counted: less than English, JSON and code have, more than
    /// Chinese.
    const UNKNOWN: Self = Self(300);

    /// The ratio of a request of so many bytes that a provider counted as so many tokens. A count
    /// that cannot be, or that leaves out cached tokens, moves the ratio no further than texts go.
    fn measured(bytes: usize, tokens: u64) -> Option<Self> {
        let tokens = usize::try_from(tokens).ok().filter(|tokens| *tokens > 0)?;
        Some(Self((bytes.saturating_mul(100) / tokens).clamp(100, 500)))
    }

    fn tokens(self, bytes: usize) -> usize {
        bytes.saturating_mul(100).div_ceil(self.0)
    }

    fn bytes(self, tokens: usize) -> usize {
        tokens.saturating_mul(self.0) / 100
    }
}

/// The sizes that one model has refused and taken, in estimated tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Learned {
    refused: Option<usize>,
    taken: usize,
}

impl Learned {
    fn refuse(&mut self, tokens: usize) {
        self.refused = Some(tokens);
        self.taken = self.taken.min(tokens.saturating_sub(1));
    }

    fn take(&mut self, tokens: usize) {
        self.taken = self.taken.max(tokens);
        self.refused = self.refused.filter(|refused| *refused > tokens);
    }

    /// The most to send next: the largest size taken and a tenth more, at least half of the refused
    /// size, and clearly less than that. So refusals become fewer, and a limit that was set too low
    /// grows again.
    fn limit(self) -> Option<usize> {
        let refused = self.refused?;
        Some((self.taken + self.taken / 10).max(refused / 2).min(refused / 10 * 9).max(self.taken))
    }
}

/// Tokens of a request for a model of this context, less those of its answer, and within the learnt
/// limit.
fn room(context_tokens: u32, learned: Learned) -> usize {
    let context = usize::try_from(context_tokens).unwrap_or(usize::MAX);
    // New text in a request may have shorter tokens than the text that was counted.
    let room = (context - (context / 4).min(ANSWER_TOKENS)) / 20 * 19;
    learned.limit().map_or(room, |limit| room.min(limit))
}

/// The sizes that models have refused and taken. One for the whole program.
#[derive(Default)]
pub(in crate::agent) struct Sizes(Mutex<Measurements>);

#[derive(Default)]
struct Measurements {
    ratios: HashMap<(String, ConversationId), Ratio>,
    learned: HashMap<String, Learned>,
}

impl Sizes {
    /// The most bytes that a request of this conversation to this model may have, its tools
    /// included.
    pub(in crate::agent) fn most(&self, model: &dyn Model, conversation: ConversationId) -> usize {
        let name = name(model);
        self.with(|known| {
            let learned = known.learned.get(&name).copied().unwrap_or_default();
            let room = room(model.abilities().context_tokens, learned);
            known.ratio(name, conversation).bytes(room)
        })
    }

    /// A request of so many bytes was too long for the model.
    pub(in crate::agent) fn refused(&self, model: &dyn Model, conversation: ConversationId, bytes: usize) {
        let name = name(model);
        self.with(|known| {
            let tokens = known.ratio(name.clone(), conversation).tokens(bytes);
            known.learned.entry(name).or_default().refuse(tokens);
        });
    }

    /// The model answered a request of so many bytes; `usage` is the provider's count.
    pub(in crate::agent) fn taken(&self, model: &dyn Model, conversation: ConversationId, bytes: usize, usage: Option<Usage>) {
        let name = name(model);
        self.with(|known| {
            if let Some(ratio) = usage.and_then(|usage| Ratio::measured(bytes, usage.input)) {
                known.ratios.insert((name.clone(), conversation), ratio);
            }
            let tokens = known.ratio(name.clone(), conversation).tokens(bytes);
            known.learned.entry(name).or_default().take(tokens);
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut Measurements) -> T) -> T {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.ratios.len() > REMEMBERED || known.learned.len() > REMEMBERED {
            *known = Measurements::default();
        }
        work(&mut known)
    }
}

impl Measurements {
    fn ratio(&self, model: String, conversation: ConversationId) -> Ratio {
        self.ratios.get(&(model, conversation)).copied().unwrap_or(Ratio::UNKNOWN)
    }
}

fn name(model: &dyn Model) -> String {
    let info = model.info();
    format!("{} {}", info.provider, info.name)
}

/// The bytes of entries in a request.
pub(in crate::agent) fn size(entries: &[Entry]) -> usize {
    let size = |entry: &Entry| match entry {
        Entry::System(text) | Entry::User(text) => text.len(),
        Entry::UserWithImages { content, images } => content.len() + images.len() * IMAGE,
        Entry::Assistant { content, calls } => {
            let calls = calls.iter().map(|call| call.name.len() + call.arguments.len() + AROUND_CALL);
            content.len() + calls.sum::<usize>()
        }
        Entry::Tool { content, .. } => content.len(),
    };
    entries.iter().map(|entry| size(entry) + AROUND_ENTRY).sum()
}

/// The bytes of tools in a request.
pub(in crate::agent) fn size_of_tools(tools: &[SharedSpec]) -> usize {
    tools.iter().map(|tool| tool.bytes() + AROUND_CALL).sum()
}

#[cfg(test)]
mod tests;
