//! `sql`: statements on the agent's tables. The reach that runs a statement judges what it may do,
//! on its own database login.

use serde::Deserialize;
use serde_json::Value;
use wasmtime::Result;

use crate::domain::{Grants, Power, SqlAccess};

use super::super::reach::{Refused, Request};
use super::State;
use super::bindings::level3::capability::sql;
use super::operations::{json, lacking_power};

impl sql::Host for State {
    fn start(&mut self, request: String) -> Result<u32> {
        Self::start(self, &request, read)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    text: String,
    #[serde(default)]
    params: Vec<Value>,
}

fn read(grants: &Grants, request: &str) -> Result<Request, Refused> {
    if grants.sql.is_none() {
        return Err(lacking_power(grants, Power::Sql, "run SQL", |grants| grants.sql = Some(SqlAccess::Read)).into());
    }
    let Written { text, params } = json(request)?;
    Ok(Request::Sql { text, params })
}
