//! The tools that a step offers: the first ones, and all others if there is room. In a small
//! context it offers those that matter most; the system prompt has the name and a line of each of
//! the rest. A tool that is not offered can be called nevertheless.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::budget::{size, size_of_tools};
use super::extent::ToolRoom;
use super::{Extent, system_prompt};
use crate::agent::Agent;
use crate::coach::Toolbox;
use crate::domain::{CallRequest, Exchange, HistoryEntry, SharedSpec, ToolSpec};
use crate::executor::RunningTurn;
use crate::model::{Entry, Model};
use crate::store::StoreError;
use crate::tools::{self, Offered};

/// The most bytes of a description in the list of the tools that are not offered.
const LINE_BYTES: usize = 100;

/// The words about capabilities if all are offered. They name none: the list of tools has the
/// names, and a model need not read a text again that stays the same when a capability is made. On
/// a machine without a graphics card that saves a small model half a minute.
static ALL_OFFERED: LazyLock<String> = LazyLock::new(|| {
    const NUMBERS: [&str; 10] = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let first = NUMBERS.get(tools::first().len()).unwrap_or(&"first");
    format!(
        "Tools besides these {first} are capabilities you built, or the user's servers. To change a capability, write it again under its name."
    )
});

/// The tools that a step offers, and the words of the system prompt about capabilities.
pub(in crate::agent) struct Offer {
    /// The first tools, then capabilities by their names, then tools of external servers.
    pub(in crate::agent) tools: Vec<SharedSpec>,
    /// The capabilities in words.
    pub(in crate::agent) section: String,
    /// The names of the tools that are not offered.
    others: Vec<String>,
}

impl Offer {
    /// The names of the tools, for the coach.
    pub(in crate::agent) fn toolbox(&self) -> Toolbox {
        let offered = self.tools.iter().map(|tool| tool.name.clone()).collect();
        Toolbox { offered, others: self.others.clone() }
    }
}

impl Extent {
    /// Offers less after a refusal that a shorter conversation could not mend. The next try of this
    /// step offers half as much, with as much of the conversation as fits then. False if nothing
    /// but the first tools was offered.
    pub(in crate::agent) fn offers_less(&mut self) -> bool {
        let offered = self.room.offered;
        *self = Self { room: ToolRoom { most: Some(offered / 2), offered }, ..Self::default() };
        offered > 0
    }
}

impl Agent {
    /// The tools that the next step of a turn offers, of those its profile has. Within a turn they
    /// change only if a tool is made, called or named, or is gone.
    ///
    /// # Errors
    /// If the database does not answer.
    pub(in crate::agent) async fn offer(
        &self,
        turn: &RunningTurn<'_>,
        model: &dyn Model,
        history: &[Exchange],
        offered: Offered,
        extent: &mut Extent,
    ) -> Result<Offer, StoreError> {
        let (lease, prompt) = (turn.lease, turn.law.profile.prompt);
        let first = offered.first.len();
        let stock = Stock::new(offered);
        let most = match extent.room.most {
            Some(most) => most,
            None => share(prompt, self.sizes.most(model, lease.conversation)),
        };
        let offer = if stock.size() <= most {
            stock.whole()
        } else {
            let lately = self.store.tools_used_lately(lease.turn).await?;
            stock.within(most, history, &lately)
        };
        extent.room = ToolRoom { most: Some(most), offered: size_of_tools(&offer.tools[first..]) };
        Ok(offer)
    }
}

/// Half of the room that a request of `most` bytes has beside the prompt and the first tools.
/// The other half is for the conversation.
fn share(prompt: &str, most: usize) -> usize {
    let fixed = size(&[Entry::System(system_prompt(prompt, "", ""))]) + size_of_tools(tools::first());
    most.saturating_sub(fixed) / 2
}

/// All tools there are to offer.
pub(super) struct Stock {
    first: Vec<SharedSpec>,
    /// The other tools; the agent's own before the external ones.
    rest: Vec<SharedSpec>,
    /// How many of them are its own.
    own: usize,
}

impl Stock {
    pub(super) fn new(Offered { first, capabilities, external }: Offered) -> Self {
        let own = capabilities.len();
        Self { first, rest: capabilities.into_iter().chain(external).collect(), own }
    }

    /// The bytes that all other tools take, with the words about them.
    fn size(&self) -> usize {
        size_of_tools(&self.rest) + ALL_OFFERED.len()
    }

    pub(super) fn whole(self) -> Offer {
        let tools = self.first.into_iter().chain(self.rest).collect();
        Offer { tools, section: ALL_OFFERED.clone(), others: Vec::new() }
    }

    /// Three quarters of `most` bytes are for the tools that are offered, the rest is for the list
    /// of the others.
    fn within(self, most: usize, history: &[Exchange], lately: &[String]) -> Offer {
        let known: HashSet<_> = self.rest.iter().map(|tool| tool.name.as_str()).collect();
        let mut places = HashMap::new();
        let first: HashSet<_> = self.first.iter().map(|tool| tool.name.as_str()).collect();
        for name in named(history, &known, &first).into_iter().chain(lately.iter().map(String::as_str)) {
            let next = places.len();
            places.entry(name).or_insert(next);
        }
        let mut ranked: Vec<_> = self.rest.iter().collect();
        // A stable order: a tool that was never used keeps its place by name.
        ranked.sort_by_cached_key(|tool| places.get(tool.name.as_str()).copied().unwrap_or(usize::MAX));
        let mut left = most / 4 * 3;
        // An offered tool stays offered if it comes to the front, so a call of it does not change
        // the offer.
        let (offered, others): (Vec<_>, Vec<_>) = ranked.into_iter().partition(|tool| {
            let bytes = size_of_tools(std::slice::from_ref(tool));
            let fits = bytes <= left;
            left -= if fits { bytes } else { 0 };
            fits
        });
        let section = in_words(self.own, &others, most / 4);
        let offered: HashSet<_> = offered.into_iter().map(|tool| tool.name.clone()).collect();
        let (rest, others): (Vec<_>, Vec<_>) = self.rest.into_iter().partition(|tool| offered.contains(&tool.name));
        let others = others.into_iter().map(|tool| tool.name.clone()).collect();
        Offer { tools: self.first.into_iter().chain(rest).collect(), section, others }
    }
}

/// The `known` tools that the conversation speaks of, the newest first: tools that were called,
/// tools named in a call of one of the first tools (which writes one, or looks one up), and tools
/// that the person named in the running turn.
fn named<'a>(history: &[Exchange], known: &HashSet<&'a str>, first: &HashSet<&str>) -> Vec<&'a str> {
    let words = |text: &str| -> Vec<&'a str> {
        let words = text.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.filter_map(|word| known.get(word).copied()).collect()
    };
    let of_call = |call: &CallRequest| match first.contains(call.name.as_str()) {
        true => words(&call.arguments),
        false => known.get(call.name.as_str()).copied().into_iter().collect(),
    };
    let running = history.last().map(|exchange| exchange.turn);
    let mut named = Vec::new();
    for exchange in history.iter().rev() {
        for entry in exchange.entries.iter().rev() {
            match entry {
                HistoryEntry::Assistant(_, calls) => named.extend(calls.iter().rev().flat_map(of_call)),
                HistoryEntry::User(text, _) | HistoryEntry::Steered(text, _) if Some(exchange.turn) == running => {
                    named.extend(words(text));
                }
                HistoryEntry::User(..) | HistoryEntry::Steered(..) | HistoryEntry::Images(..) | HistoryEntry::Tool(..) => {}
            }
        }
    }
    named
}

/// The tools that are not offered, in about so many bytes: a line for each as long as the names of
/// all others have room as well, then names, then the number of the rest.
fn in_words(own: usize, others: &[&SharedSpec], most: usize) -> String {
    let mut section = format!(
        "You have {own} self-built capabilities. Not all tools have room in the list of tools; these {} are left out there, and are yours all \
         the same. To use one, read it, and from then on it is in the list: SELECT description, parameters FROM shared.capabilities WHERE \
         name = '…'. Or call it by its name at once; arguments that do not fit are answered with its schema.",
        others.len()
    );
    let names: usize = others.iter().map(|tool| tool.name.len() + 2).sum();
    let mut left = most.saturating_sub(names.min(most / 2));
    let lines = others.iter().map(|tool| line(tool)).take_while(|line| {
        let fits = line.len() <= left;
        left = left.saturating_sub(line.len());
        fits
    });
    let lines: Vec<_> = lines.collect();
    section.extend(lines.iter().map(String::as_str));
    let others = &others[lines.len()..];
    let mut left = most.saturating_sub(lines.iter().map(String::len).sum());
    let shown = others.iter().take_while(|tool| {
        let bytes = tool.name.len() + 2;
        let fits = bytes <= left;
        left = left.saturating_sub(bytes);
        fits
    });
    let names: Vec<_> = shown.map(|tool| tool.name.as_str()).collect();
    if !names.is_empty() {
        section += &format!("\n- {}", names.join(", "));
    }
    if let Some(more) = others.len().checked_sub(names.len()).filter(|more| *more > 0) {
        section += &format!("\n… and {more} more: SELECT name, description FROM shared.capabilities WHERE state = 'installed'");
    }
    section
}

/// A tool in one line.
fn line(tool: &ToolSpec) -> String {
    let first = tool.description.lines().next().unwrap_or_default().trim();
    let end = first.floor_char_boundary(LINE_BYTES);
    let rest = if end < first.len() { "…" } else { "" };
    format!("\n- {}: {}{rest}", tool.name, &first[..end])
}
