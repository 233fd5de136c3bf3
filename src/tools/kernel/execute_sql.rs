//! `execute_sql`: statements of the agent, in one transaction with their outcome.

use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::domain::{EXECUTE_SQL, Effect, Finding, ToolSpec};
use crate::governor::sql;
use crate::store::{AgentLogin, AgentSql, RowLimits, SqlEnd, StoreError};
use crate::tools::kit::Kit;
use crate::tools::tool::{
    Act, CallCard, Doing, Executed, Inside, Prepared, Preparing, Tool, ToolError, at_once, more_than_reading, read, spec,
};

const DESCRIPTION: &str = "Execute SQL (PostgreSQL) and return rows as JSON, or the row count for changes; several statements succeed together or not at \
     all. Your tables live in the schema `agent`, where you may create, change and drop anything. Readable besides: the views tasks, conversations, \
     messages, capabilities, audit_entries.";

/// The tool.
pub(super) struct ExecuteSql;

#[derive(Deserialize, JsonSchema)]
struct Statements {
    /// SQL query to execute
    query: String,
    /// Values for $1, $2, … in the query
    #[serde(default)]
    params: Vec<Value>,
}

impl Tool for ExecuteSql {
    fn spec(&self) -> ToolSpec {
        spec::<Statements>(EXECUTE_SQL, DESCRIPTION)
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        async move {
            let request: Statements = read(asked.arguments.clone())?;
            let mut effects = sql::classify(&request.query).effects;
            let (store, mut foreseen) = (&asked.kit().store, Finding::default());
            let may_be_asked = effects.iter().any(|effect| !matches!(effect, Effect::Read | Effect::Write));
            if may_be_asked
                && let Some(problem) = store.agent_sql_problem(&sql::statements(&request.query), &request.params).await?
            {
                return Err(problem.into());
            }
            if let Some(loss) = sql::whole_loss(&request.query) {
                match store.foresee(&loss).await? {
                    // The look before the commit finds what comes to be there meanwhile.
                    None if loss.if_exists => {
                        effects.remove(&Effect::Delete);
                        effects.insert(Effect::Define);
                    }
                    // These lose rows besides, which only the run counts.
                    _ if effects.iter().any(|effect| matches!(effect, Effect::Write | Effect::Opaque)) => {}
                    counted => foreseen = counted.unwrap_or_default(),
                }
            }
            let act = Box::new(ReadStatements { request, foreseen });
            Ok(Prepared { act, effects, version: None, arguments: None, context: None })
        }
        .boxed()
    }

    fn changes(&self, arguments: &Value) -> bool {
        read::<Statements>(arguments.clone()).is_ok_and(|request| more_than_reading(&sql::classify(&request.query).effects))
    }

    fn for_capabilities(&self) -> bool {
        true
    }
}

/// Statements that were read.
struct ReadStatements {
    request: Statements,
    /// The rows that go with whole tables.
    foreseen: Finding,
}

impl Act for ReadStatements {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        at_once(Ok(CallCard::of(sql::in_words(&self.request.query))))
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move {
            let Doing { lease, permit, proposal, promised, shown, now, .. } = doing;
            // Postgres allows the effects that the law judged, and nothing else.
            let login = AgentLogin::of(&proposal.effects);
            let statements = sql::statements(&self.request.query);
            let (params, limits) = (&self.request.params, RowLimits::default());
            let sql = AgentSql { statements: &statements, params, limits, login, promised, shown };
            Ok(match doing.kit().store.run_agent_sql(lease, permit, &proposal.tool, sql, now).await? {
                SqlEnd::Outcome(_) => Executed::Recorded,
                SqlEnd::Asks(finding) => Executed::Found(finding),
            })
        }
        .boxed()
    }

    fn foreseen(&self) -> Finding {
        self.foreseen.clone()
    }

    fn inside(&self) -> Inside<'_> {
        Inside::Sql(&self.request.query, &self.request.params)
    }
}
