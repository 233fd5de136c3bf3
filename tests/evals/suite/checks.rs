//! Checks whether the conditions of a task hold.

use serde_json::Value;
use sqlx::AssertSqlSafe;

use super::{Check, House};

impl Check {
    /// `Err` says what it found instead.
    pub async fn look(&self, house: &House) -> Result<(), String> {
        match self {
            Self::Sql(query, expected) => {
                let query = format!("SELECT ({query})::text");
                let asked = sqlx::query_scalar(AssertSqlSafe(query.clone())).fetch_one(&mut house.behind().await).await;
                // A missing table is a failure of the agent, not of the check.
                let found: Option<String> = asked.map_err(|error| format!("{query}: {error}"))?;
                let found = found.as_deref().unwrap_or("nothing");
                if found == *expected { Ok(()) } else { Err(format!("{query} gives {found}, not {expected}")) }
            }
            Self::Gives(tool, arguments, expected) => {
                let (ok, result) = house.order(tool, arguments.clone()).await;
                if ok && same(&result, expected) {
                    return Ok(());
                }
                Err(format!("{tool}({arguments}) gives {result}, not {expected}"))
            }
            Self::Arrived(method, path, holding) => {
                let arrived = house.peer.arrived();
                let holds = |value: &str| value.contains(holding);
                let found = arrived.iter().any(|request| {
                    let in_header = request.headers.values().any(|value| value.to_str().is_ok_and(holds));
                    request.method == *method && request.path == *path && (holds(&request.body) || in_header)
                });
                let came: Vec<_> = arrived.iter().map(|request| format!("{} {}", request.method, request.path)).collect();
                if found { Ok(()) } else { Err(format!("no {method} {path} with `{holding}` arrived; there came: {came:?}")) }
            }
        }
    }
}

/// True if a result is the expected one. A number may be written as text, and 10 is 10.0.
fn same(result: &str, expected: &Value) -> bool {
    let found = serde_json::from_str(result).unwrap_or_else(|_| Value::from(result));
    let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
    match (number(&found), number(expected)) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-9,
        _ => found == *expected,
    }
}
