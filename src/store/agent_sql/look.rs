//! The look at the effects of the agent's statements, in the transaction that would commit. It
//! finds everything that nobody approved, however the statement was written. Nothing of the agent
//! runs after it.

use std::collections::BTreeMap;

use serde::Deserialize;
use sqlx::{PgConnection, Row};

use super::told::describe;
use super::{AgentLogin, Failure};
use crate::domain::{Effect, Finding};
use crate::store::{Store, StoreError};

/// How many things a person is told of.
const MOST: usize = 20;

/// Shows schema `agent` as a transaction sees it now.
const IMAGE: &str = "SELECT shared.agent_image(false)";

/// Schema `agent` in one moment, as `shared.agent_image` shows it.
type Image = BTreeMap<String, Thing>;

/// Something in the schema that has to stay as it is.
#[derive(Debug, Deserialize, PartialEq)]
struct Thing {
    what: String,
    effect: Effect,
    mark: String,
    new: bool,
}

impl AgentLogin {
    /// The query at the beginning of its transaction, whose answer [`Store::look_at_agent`]
    /// compares.
    pub(super) fn before(self) -> &'static str {
        match self {
            Self::Writer => "shared.catalogue_writes()",
            Self::Tables => "shared.agent_image(true)",
            // A transaction that cannot write needs no look, nor does one that was allowed
            // everything.
            Self::Reader | Self::Full => "''",
        }
    }
}

impl AgentLogin {
    /// The statements behind the last one of the agent, in its message: work that was deferred to
    /// the commit is done, so that nothing of the agent happens after them, and the last one's
    /// answer is for [`Store::look_at_agent`]. They hold no secret, since whatever is deferred can
    /// read them.
    pub(super) fn after(self) -> &'static str {
        match self {
            Self::Reader => "",
            Self::Writer => "RESET ROLE; SET CONSTRAINTS ALL IMMEDIATE; SELECT shared.catalogue_writes()",
            Self::Tables => "RESET ROLE; SET CONSTRAINTS ALL IMMEDIATE; SELECT shared.agent_image(false)",
            // New things get the owners and the rights that such things have.
            Self::Full => "RESET ROLE; SET CONSTRAINTS ALL IMMEDIATE; SELECT shared.adopt_approved()::pg_catalog.text",
        }
    }
}

impl Store {
    /// Looks at the effects of the statements. `before` is the answer to [`AgentLogin::before`],
    /// `after` the one to [`AgentLogin::after`].
    pub(super) async fn look_at_agent(
        &self,
        connection: &mut PgConnection,
        login: AgentLogin,
        before: &str,
        mut after: String,
    ) -> Result<Option<Finding>, Failure> {
        let unchanged = login == AgentLogin::Writer && after == before;
        if matches!(login, AgentLogin::Reader | AgentLogin::Full) || unchanged {
            return Ok(None);
        }
        let told = |error| describe(error, "", 0);
        // The schema as others see it. A difference from that is the work of this transaction, and
        // not of another one meanwhile.
        let outside = async || {
            let mut connection = self.pool.acquire().await?;
            text(&mut connection, IMAGE).await
        };
        if login == AgentLogin::Writer {
            after = text(&mut *connection, IMAGE).await.map_err(told)?;
            let outside = read(&outside().await?)?;
            return Ok(compare(&outside, &read(&after)?, &outside));
        }
        let (before, outside) = (read(before)?, read(&outside().await?)?);
        let mut after = read(&after)?;
        // Others made something since the statements began. If it is not here now either, the
        // statements lost it.
        if outside.keys().any(|key| !before.contains_key(key) && !after.contains_key(key)) {
            after = read(&text(&mut *connection, IMAGE).await.map_err(told)?)?;
        }
        Ok(compare(&before, &after, &outside))
    }
}

/// The one value that this statement returns.
async fn text(connection: &mut PgConnection, sql: &'static str) -> Result<String, sqlx::Error> {
    let row = sqlx::raw_sql(sql).fetch_one(connection).await?;
    Ok(row.try_get_unchecked::<Option<String>, _>(0)?.unwrap_or_default())
}

fn read(image: &str) -> Result<Image, StoreError> {
    serde_json::from_str(image).map_err(|error| StoreError::Unreadable(error.to_string()))
}

/// The things a transaction lost, weakened or made that a person has to be asked about. `outside`
/// was read after `after`.
fn compare(before: &Image, after: &Image, outside: &Image) -> Option<Finding> {
    let mut finding = Finding::default();
    let mut found = |effect: Effect, why: String| finding.unite(Finding::of(effect, why));
    let gone = |key: &str| (before.contains_key(key) || outside.contains_key(key)) && !after.contains_key(key);
    // Things that others made while the statements ran can be lost by these, too.
    let came = outside
        .iter()
        .filter(|(key, _)| !before.contains_key(*key) && part_of(key).is_none_or(|whole| !before.contains_key(&whole)));
    for (key, thing) in before.iter().chain(came) {
        let (now, there) = (after.get(key), outside.get(key));
        if now.is_some_and(|now| now.mark == thing.mark) || now.map(|now| &now.mark) == there.map(|there| &there.mark) {
            continue;
        }
        match now {
            Some(now) if key.starts_with("rows ") => {
                found(Effect::Delete, format!("Writes {} anew; what was in them may be gone.", now.what));
            }
            Some(now) => found(thing.effect, format!("Changes {}.", now.what)),
            // If a thing is gone with its table, only the table is named.
            None if part_of(key).is_some_and(|whole| gone(&whole)) => {}
            None => found(thing.effect, format!("Drops {}.", thing.what)),
        }
    }
    for (key, thing) in after {
        if thing.new && !before.contains_key(key) && !outside.contains_key(key) {
            found(thing.effect, format!("Makes {}.", thing.what));
        }
    }
    if finding.why.len() > MOST {
        let more = finding.why.len() - MOST;
        finding.why.truncate(MOST);
        finding.why.push(format!("And {more} more changes like these."));
    }
    (!finding.is_empty()).then_some(finding)
}

/// The relation that a column, an index or a trigger belongs to, or that a fact is about.
fn part_of(key: &str) -> Option<String> {
    let mut words = key.split(' ');
    match (words.next()?, words.next()?) {
        ("column" | "rights" | "rows" | "protection" | "index" | "trigger" | "rule" | "policy", relation) => {
            Some(format!("relation {relation}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
