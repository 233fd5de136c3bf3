//! Named points at which a test makes the process die, fail or stand still. Debug builds only: in a
//! release build [`hit`] is empty, and neither the names nor the setting are in the program.
//!
//! `LEVEL3_FAILPOINT=name:action[:count]` arms one point for the life of the process. `action` is
//! `abort` (the process kills itself with SIGKILL), `error` (the point fails) or `pause=PATH` (the
//! point reads PATH to its end; with a named pipe whoever holds its other end learns that the point
//! was reached, and lets it go on by closing). It acts at the `count`th hit, from 1, and at no
//! other.

use std::io;

/// A place in the program where a crash is of interest.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(debug_assertions, derive(Debug))]
pub enum Point {
    /// A message is accepted and committed, and nobody was told.
    AfterAccept,
    /// Something was said into a turn and committed, and nobody was told.
    AfterSteer,
    /// A turn was taken up, and nothing was done yet.
    AfterClaim,
    /// The first piece of a model's answer was read.
    FirstByte,
    /// A step is stored, and none of its tool calls was run.
    AfterStep,
    /// A statement of the agent is committed with its outcome, and nobody was told.
    AfterStatement,
    /// A change of a capability's values is written, not committed.
    MidKv,
    /// An operation at a peer is about to be recorded as intended.
    BeforeIntent,
    /// It is recorded, and nothing was sent.
    AfterIntent,
    /// It was sent and answered, and nothing was recorded.
    AfterSend,
    /// The outcome of the operation is recorded, and the call is not over.
    AfterOperation,
    /// A tool call's outcome is committed, and nobody was told.
    AfterDone,
    /// A capability is written, not committed.
    MidCapability,
    /// A person is asked, not committed.
    MidAsk,
    /// A person's decision is written, not committed.
    MidDecision,
    /// An approval is used up, not committed.
    MidApproval,
    /// Due tasks were handed to a turn, not committed.
    MidDue,
    /// A task was broken down and that is committed, and the task is not made.
    AfterBreakdown,
    /// A person was reminded, not committed.
    MidReminder,
    /// A contact's message is written, not committed.
    MidIncoming,
    /// A turn is about to be shown what a contact wrote, not committed.
    MidBriefing,
    /// A message to a contact is in the outbox, not committed.
    MidOutgoing,
    /// A sender takes a message, not committed.
    MidAttempt,
    /// The end of an attempt to send is written, not committed.
    MidDelivery,
    /// A cycle of a campaign has read its state, and no model was asked.
    AfterLoad,
    /// The effect of a proposal is decided, and may be written, not committed.
    MidProposal,
    /// The end of a cycle is decided and may be written, not committed; no next one is queued.
    MidCycleEnd,
    /// The outcome of a full restart is committed, and the restart is not begun.
    MidRestart,
    /// Some migrations are applied, others not.
    MidMigration,
    /// `initdb` is done, and the cluster is not in its place.
    MidInitdb,
}

/// Acts if this point is armed and it is its turn.
///
/// # Errors
/// When the point is armed to fail.
#[cfg(debug_assertions)]
pub fn hit(point: Point) -> io::Result<()> {
    armed::hit(point)
}

/// Does nothing.
///
/// # Errors
/// None.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn hit(_: Point) -> io::Result<()> {
    Ok(())
}

/// True when this point is armed; for what has to be done differently so that there is such a point
/// at all.
#[cfg(debug_assertions)]
pub fn is_armed(point: Point) -> bool {
    armed::is_armed(point)
}

/// False.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn is_armed(_: Point) -> bool {
    false
}

#[cfg(debug_assertions)]
pub use armed::{Armed, POINTS, arm};

#[cfg(debug_assertions)]
mod armed {
    use std::io;
    use std::path::PathBuf;
    use std::str::FromStr;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::Point;

    static ARMED: OnceLock<(Armed, AtomicU32)> = OnceLock::new();

    /// Every point, with the name it is armed by.
    pub const POINTS: [(&str, Point); 30] = [
        ("after-accept", Point::AfterAccept),
        ("after-steer", Point::AfterSteer),
        ("after-claim", Point::AfterClaim),
        ("first-byte", Point::FirstByte),
        ("after-step", Point::AfterStep),
        ("after-statement", Point::AfterStatement),
        ("mid-kv", Point::MidKv),
        ("before-intent", Point::BeforeIntent),
        ("after-intent", Point::AfterIntent),
        ("after-send", Point::AfterSend),
        ("after-operation", Point::AfterOperation),
        ("after-done", Point::AfterDone),
        ("mid-capability", Point::MidCapability),
        ("mid-ask", Point::MidAsk),
        ("mid-decision", Point::MidDecision),
        ("mid-approval", Point::MidApproval),
        ("mid-due", Point::MidDue),
        ("after-breakdown", Point::AfterBreakdown),
        ("mid-reminder", Point::MidReminder),
        ("mid-incoming", Point::MidIncoming),
        ("mid-briefing", Point::MidBriefing),
        ("mid-outgoing", Point::MidOutgoing),
        ("mid-attempt", Point::MidAttempt),
        ("mid-delivery", Point::MidDelivery),
        ("after-load", Point::AfterLoad),
        ("mid-proposal", Point::MidProposal),
        ("mid-cycle-end", Point::MidCycleEnd),
        ("mid-restart", Point::MidRestart),
        ("mid-migration", Point::MidMigration),
        ("mid-initdb", Point::MidInitdb),
    ];

    /// The act of an armed point.
    #[derive(Clone, Debug, PartialEq, Eq)]
    enum Action {
        Abort,
        Error,
        Pause(PathBuf),
    }

    /// A point with what it does, and at which hit.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Armed {
        point: Point,
        action: Action,
        count: u32,
    }

    impl FromStr for Armed {
        type Err = String;

        fn from_str(text: &str) -> Result<Self, String> {
            let mut parts = text.splitn(3, ':');
            let name = parts.next().unwrap_or_default();
            let found = POINTS.iter().find(|(known, _)| *known == name).map(|(_, point)| *point);
            let point = found.ok_or_else(|| {
                let names: Vec<_> = POINTS.iter().map(|(name, _)| *name).collect();
                format!("there is no point `{name}`; there are {}", names.join(", "))
            })?;
            let action = match parts.next() {
                Some("abort") => Action::Abort,
                Some("error") => Action::Error,
                Some(other) => match other.strip_prefix("pause=") {
                    Some(path) if !path.is_empty() => Action::Pause(path.into()),
                    _ => return Err(format!("`{other}` is no action; expected abort, error or pause=PATH")),
                },
                None => return Err("it lacks an action: abort, error or pause=PATH".to_owned()),
            };
            let count = parts.next().unwrap_or("1");
            let count = count.parse().ok().filter(|count| *count > 0);
            Ok(Self { point, action, count: count.ok_or("the count is a whole number from 1 up")? })
        }
    }

    /// Arms a point, for the life of the process. Only the first time counts.
    pub fn arm(armed: Armed) {
        tracing::warn!(?armed, "a failpoint is armed");
        ARMED.get_or_init(|| (armed, AtomicU32::new(0)));
    }

    pub(super) fn is_armed(point: Point) -> bool {
        ARMED.get().is_some_and(|(armed, _)| armed.point == point)
    }

    pub(super) fn hit(point: Point) -> io::Result<()> {
        let Some((armed, hits)) = ARMED.get() else { return Ok(()) };
        if armed.point != point || hits.fetch_add(1, Ordering::Relaxed) + 1 != armed.count {
            return Ok(());
        }
        match &armed.action {
            Action::Abort => {
                // SAFETY: kill and getpid take no pointers. Nothing runs after it: this is what is
                // tried.
                unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
                Ok(())
            }
            Action::Error => Err(io::Error::other("the failpoint was armed to fail")),
            // It stands still where it is, as a frozen machine does, and takes its thread with it.
            Action::Pause(path) => std::fs::read(path).map(drop),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_setting_names_point_action_and_count() {
            let armed = |text: &str| text.parse::<Armed>();
            let abort = Armed { point: Point::AfterSend, action: Action::Abort, count: 1 };
            assert_eq!(armed("after-send:abort"), Ok(abort.clone()));
            assert_eq!(armed("after-send:abort:3"), Ok(Armed { count: 3, ..abort.clone() }));
            assert_eq!(armed("after-send:pause=/tmp/x"), Ok(Armed { action: Action::Pause("/tmp/x".into()), ..abort }));
        }

        #[test]
        fn a_setting_that_makes_no_sense_says_what_was_expected() {
            for (text, said) in [
                ("nowhere:abort", "after-accept, after-steer, after-claim"),
                ("after-send", "lacks an action"),
                ("after-send:sleep", "expected abort, error or pause"),
                ("after-send:pause=", "expected abort, error or pause"),
                ("after-send:abort:0", "whole number"),
            ] {
                let told = text.parse::<Armed>().unwrap_err();
                assert!(told.contains(said), "{text}: {told}");
            }
        }

        #[test]
        fn nothing_happens_at_a_point_that_is_not_armed() {
            assert!(POINTS.iter().all(|(_, point)| hit(*point).is_ok() && !is_armed(*point)));
        }
    }
}
