//! `sql`: statements on the agent's tables. The reach that runs a statement judges what it may do,
//! on its own database login.

use serde::Deserialize;
use serde_json::Value;
use wasmtime::Result;

use crate::domain::{Grants, Power, SqlAccess};

use super::super::reach::{OperationRefused, OperationRequest};
use super::HostState;
use super::bindings::level3::capability::sql;
use super::operations::{json, lacking_power};

impl sql::Host for HostState {
    fn start(&mut self, request: String) -> Result<u32> {
        Self::start(self, &request, read)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SqlRequest {
    text: String,
    #[serde(default)]
    params: Vec<Value>,
}

fn read(grants: &Grants, request: &str) -> Result<OperationRequest, OperationRefused> {
    if grants.sql.is_none() {
        return Err(lacking_power(grants, Power::Sql, "run SQL", |grants| grants.sql = Some(SqlAccess::Read)).into());
    }
    let SqlRequest { text, params } = json(request)?;
    Ok(OperationRequest::Sql { text, params })
}
