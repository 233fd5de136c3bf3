//! What a task is made of.

use serde_json::Value;

use crate::support::Reply;

/// Something to ask of the agent, and what must be true afterwards. Nothing of it looks at the words of an answer.
pub struct Task {
    pub name: &'static str,
    /// Calls that the person made before, in another conversation: tool and arguments. All of them are approved.
    pub before: Vec<(&'static str, Value)>,
    /// Secrets that the person set before.
    pub secrets: Vec<(&'static str, &'static str)>,
    /// Whether the profile may only read.
    pub read_only: bool,
    /// What is said, one turn each.
    pub says: Vec<String>,
    /// What the person does with what is asked for.
    pub person: Person,
    /// Whether a task falls due afterwards, whose turn is waited for.
    pub falls_due: bool,
    /// What must be true.
    pub checks: Vec<Check>,
    /// What a model would answer that does everything right.
    pub right: Vec<Reply>,
    /// What shows that the checks can fail.
    pub wrong: Wrong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Person {
    Approves,
    Denies,
}

/// Something that must be true, and can be seen without asking the agent.
pub enum Check {
    /// This query gives this text.
    Sql(String, &'static str),
    /// A call of this capability with these arguments, made by the person, gives this.
    Gives(&'static str, Value, Value),
    /// A request arrived at the peer: method, path, and what its body or one of its headers holds.
    Arrived(&'static str, &'static str, &'static str),
}

/// How a task is failed.
pub enum Wrong {
    /// By talking and doing nothing.
    Talk,
    /// By answering so.
    Answers(Vec<Reply>),
    /// By this having happened, which the house itself prevents.
    Happened(&'static str),
}

impl Task {
    /// A task without anything before it, whose person approves, and that talk alone does not do.
    pub fn new(name: &'static str, says: impl Into<String>) -> Self {
        Self {
            name,
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

    /// A call made before.
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
