//! How much of a conversation one request shows.

use super::budget::size;
use super::cut::{self, RESULT_BYTES};
use super::{Conversation, without_long_arguments};
use crate::domain::{CallRequest, TurnId};
use crate::model::Entry;

/// The part of a conversation that is shown. The rest stays in the database. Within a turn the part
/// only ever gets smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::agent) struct Extent {
    /// The oldest turn shown; the running one is shown in any case.
    pub(super) since: TurnId,
    pub(super) detail: Detail,
    /// The room for the tools beside the first ones.
    pub(super) room: ToolRoom,
}

/// The part of a turn's requests that capabilities and external tools have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ToolRoom {
    /// Bytes, fixed by the turn's first step. Knowledge of the model that comes later would change
    /// the list of tools, and the provider would have to read everything anew.
    pub(super) most: Option<usize>,
    /// The bytes of such tools in the last offer.
    pub(super) offered: usize,
}

/// The detail in which turns are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Detail {
    /// Everything but the middle of very long results.
    Full,
    /// Long results and arguments are cut.
    Cut,
    /// A result shows little more than that it came, and no summary stands before the turns.
    Least,
}

impl Detail {
    /// The most bytes of a result.
    pub(super) fn result_bytes(self) -> usize {
        match self {
            Self::Full => RESULT_BYTES,
            Self::Cut => 2 * 1024,
            Self::Least => 256,
        }
    }
}

impl Detail {
    /// An answer's text.
    pub(super) fn text(self, content: &str) -> String {
        if self == Self::Full { content.to_owned() } else { cut::text(content, self.result_bytes()) }
    }

    /// A call that an answer asked for.
    pub(super) fn call(self, call: &CallRequest) -> CallRequest {
        if self == Self::Full { call.clone() } else { without_long_arguments(call, self.result_bytes()) }
    }
}

impl Default for Extent {
    /// Everything.
    fn default() -> Self {
        Self { since: TurnId(0), detail: Detail::Full, room: ToolRoom::default() }
    }
}

impl Conversation<'_> {
    /// Entries of at most `most` bytes without anything that `extent` leaves out: old turns go
    /// first, then the middles of results. If not even the least fits, the least. Turns that had to
    /// go stay away for the rest of the turn. Some more go with them, so that the next steps begin
    /// with the same entries.
    pub(in crate::agent) fn fitting(&self, extent: &mut Extent, most: usize) -> Vec<Entry> {
        let mut entries = self.entries(*extent);
        if size(&entries) <= most {
            return entries;
        }
        let alone = size(&self.entries(Extent { since: self.turn(), ..*extent }));
        let enough = alone + most.saturating_sub(alone) / 4 * 3;
        for since in self.turns().filter(|turn| *turn > extent.since).collect::<Vec<_>>() {
            extent.since = since;
            entries = self.entries(*extent);
            if size(&entries) <= enough.min(most) {
                return entries;
            }
        }
        for less in self.less_of_this_turn(*extent) {
            if size(&entries) <= most {
                break;
            }
            entries = self.entries(less);
        }
        entries
    }

    /// The extent to try after a refusal, with its entries: the next one that really leaves out
    /// something, or `None` if nothing is left to leave out. First the newer half of the earlier
    /// turns stays, then this turn alone, then its results are cut.
    pub(in crate::agent) fn shorter(&self, extent: Extent) -> Option<(Extent, Vec<Entry>)> {
        // The system prompt, to which a note may be added, does not count.
        let length = |entries: &[Entry]| size(entries.get(1..).unwrap_or_default());
        let now = length(&self.entries(extent));
        let this = self.turn();
        let sizes: Vec<_> = (self.earlier().filter(|exchange| exchange.turn >= extent.since))
            .map(|exchange| (exchange.turn, size(&self.shown(exchange, extent.detail))))
            .collect();
        let (mut left, half) = (0, sizes.iter().map(|(_, size)| size).sum::<usize>() / 2);
        let newer = sizes.iter().rev().map_while(|(turn, size)| {
            left += size;
            (left <= half).then_some(*turn)
        });
        let since = newer.last().unwrap_or(this);
        let stages = [Extent { since, ..extent }, Extent { since: this, ..extent }];
        let stages = stages.into_iter().chain(self.less_of_this_turn(extent));
        stages.map(|extent| (extent, self.entries(extent))).find(|(_, entries)| length(entries) < now)
    }

    fn less_of_this_turn(&self, extent: Extent) -> impl Iterator<Item = Extent> {
        let since = self.turn();
        let details = [Detail::Cut, Detail::Least].into_iter().filter(move |detail| *detail > extent.detail);
        details.map(move |detail| Extent { since, detail, ..extent })
    }
}
