//! The seam between the agent's SQL and a question: nothing of the statement is kept, and the law
//! judges the findings anew.

use std::collections::BTreeSet;

use super::Failure;
use super::told::{FORBIDDEN, code_of};
use crate::domain::{Effect, Finding, Outcome};
use crate::store::{Store, StoreError};

/// The login that statements of the agent run on: how much Postgres allows them. Each may do more
/// than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentLogin {
    /// Reads.
    Reader,
    /// Changes rows.
    Writer,
    /// Makes and changes tables, views, indexes …
    Tables,
    /// Does whatever the law allowed, even deleting, or effects that nobody can tell. No question
    /// follows.
    Full,
}

impl AgentLogin {
    /// The least login for effects that the law allowed.
    pub fn of(effects: &BTreeSet<Effect>) -> Self {
        let login = |effect: &Effect| match effect {
            Effect::Read => Self::Reader,
            Effect::Write => Self::Writer,
            Effect::Define => Self::Tables,
            _ => Self::Full,
        };
        effects.iter().map(login).max().unwrap_or(Self::Full)
    }
}

/// The end of statements of the agent.
#[derive(Debug, PartialEq)]
pub enum SqlEnd {
    /// Their outcome, which is recorded.
    Outcome(Outcome),
    /// They would do more than they were allowed to. Nothing of them was kept or recorded; the law
    /// judges them anew, with this.
    Asks(Finding),
}

impl SqlEnd {
    /// The outcome, if there is one.
    pub fn outcome(self) -> Option<Outcome> {
        match self {
            Self::Outcome(outcome) => Some(outcome),
            Self::Asks(_) => None,
        }
    }
}

impl Store {
    /// The failure of a statement, as a question if a login with more rights could run it.
    pub(super) async fn or_asks(&self, failure: Failure, login: AgentLogin) -> Failure {
        let Failure::Statement(told) = &failure else { return failure };
        let message = &told.message;
        let asks = |effect, why: &str| Failure::Asks(Finding::of(effect, format!("{why}: {message}.")));
        let refused = "Postgres refused it without a person's word";
        match (login, code_of(told)) {
            (AgentLogin::Full, _) => failure,
            (AgentLogin::Reader, Some("25006")) => asks(Effect::Write, "It would change something"),
            (_, Some(FORBIDDEN)) => match self.refused_in_agent(message).await {
                Ok(Named::Code) => asks(Effect::Opaque, refused),
                Ok(Named::Relation | Named::Schema) if login == AgentLogin::Reader => {
                    asks(Effect::Write, "It would change something")
                }
                Ok(Named::Schema) if login == AgentLogin::Writer => asks(Effect::Define, "It would make something"),
                Ok(Named::Relation | Named::Schema) => asks(Effect::Opaque, refused),
                // Every login is refused the house's and the server's own things, so nobody is
                // asked about them.
                Ok(Named::Nothing) => failure,
                Err(error) => Failure::Store(error),
            },
            _ => failure,
        }
    }

    /// The agent's own thing that Postgres' message names. Its language does not matter: names stay
    /// as they are.
    async fn refused_in_agent(&self, message: &str) -> Result<Named, StoreError> {
        let row = sqlx::query!(
            r#"WITH own AS (
                   SELECT FALSE AS code, relname AS name FROM pg_class WHERE relnamespace = 'agent'::regnamespace
                   UNION ALL SELECT TRUE, proname FROM pg_proc WHERE pronamespace = 'agent'::regnamespace
                   UNION ALL SELECT TRUE, typname FROM pg_type
                   WHERE typnamespace = 'agent'::regnamespace AND typrelid = 0 AND typelem = 0
                   UNION ALL SELECT TRUE, oprname FROM pg_operator WHERE oprnamespace = 'agent'::regnamespace)
               SELECT bool_or(code) AS code, 'agent' = ANY (words) AS "schema!"
               FROM regexp_split_to_array($1, '\W+') AS words
               LEFT JOIN own ON name::text = ANY (words) OR (name::text ~ '\W' AND position(name::text IN $1) > 0)
               GROUP BY words"#,
            message
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(match (row.code, row.schema) {
            (Some(true), _) => Named::Code,
            (Some(false), _) => Named::Relation,
            (None, true) => Named::Schema,
            (None, false) => Named::Nothing,
        })
    }
}

/// The agent's own thing that a refusal names.
enum Named {
    /// A function, a type, an operator.
    Code,
    /// A table, a view, a sequence.
    Relation,
    /// Its schema.
    Schema,
    Nothing,
}
