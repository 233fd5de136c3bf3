//! The parts of a task.

use serde_json::Value;

use crate::support::Reply;

/// An order for the agent, and the conditions that must hold afterwards. No condition looks at the
/// words of an answer.
pub struct Task {
    pub name: &'static str,
    /// The profile of the agent that is spoken to.
    pub profile: &'static str,
    /// Calls that the person made before, in another conversation: tool and arguments. All are
    /// approved.
    pub before: Vec<(&'static str, Value)>,
    /// Secrets that the person set before.
    pub secrets: Vec<(&'static str, &'static str)>,
    /// True if the profile may only read.
    pub read_only: bool,
    /// The person's messages, one turn each.
    pub says: Vec<String>,
    /// The person's answer to approvals.
    pub person: Person,
    /// True if a task falls due afterwards; the run waits for its turn.
    pub falls_due: bool,
    /// The conditions.
    pub checks: Vec<Check>,
    /// The answers of a model that does everything right.
    pub right: Vec<Reply>,
    /// The way to show that the checks can fail.
    pub wrong: Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Person {
    Approves,
    Denies,
}

/// A condition that can be checked without asking the agent.
pub enum Check {
    /// This query gives this text.
    Sql(String, &'static str),
    /// If the person calls this capability with these arguments, it gives this.
    Gives(&'static str, Value, Value),
    /// A request arrived at the peer: method, path, and a part of its body or of one of its
    /// headers.
    Arrived(&'static str, &'static str, &'static str),
}

/// A way to fail a task.
pub enum Wrong {
    /// The model talks and does nothing.
    Talk,
    /// The model gives these answers.
    Answers(Vec<Reply>),
    /// This happens, which the house itself prevents.
    Happened(&'static str),
}

impl Task {
    /// A task without anything before it, whose person approves, and that talk alone does not
    /// fulfil.
    pub fn new(name: &'static str, says: impl Into<String>) -> Self {
        Self {
            name,
            profile: "builder",
            before: Vec::new(),
            secrets: Vec::new(),
            read_only: false,
            says: vec![says.into()],
            person: Person::Approves,
            falls_due: false,
            checks: Vec::new(),
            right: Vec::new(),
            wrong: Wrong::Talk,
        }
    }

    /// A call that the person made before.
    pub fn before(mut self, tool: &'static str, arguments: Value) -> Self {
        self.before.push((tool, arguments));
        self
    }

    pub fn check(mut self, check: Check) -> Self {
        self.checks.push(check);
        self
    }

    /// This query must give this text.
    pub fn sql(self, query: impl Into<String>, expected: &'static str) -> Self {
        self.check(Check::Sql(query.into(), expected))
    }

    /// The model itself must have called this tool, and it succeeded.
    pub fn called(self, tool: &str) -> Self {
        self.sql(format!("SELECT count(*) > 0 FROM ({BY_THE_MODEL}) AS made WHERE name = '{tool}' AND state = 'done'"), "true")
    }

    pub fn right(mut self, replies: impl IntoIterator<Item = Reply>) -> Self {
        self.right.extend(replies);
        self
    }
}

/// The calls that the model asked for, not those of the person.
pub const BY_THE_MODEL: &str = "SELECT c.* FROM tool_calls c JOIN turns USING (turn_id) WHERE origin <> 'command'";
