//! `tools`: calls of other tools.

use serde::Deserialize;
use serde_json::{Value, json as value};
use wasmtime::Result;

use crate::domain::{Grants, Power};

use super::super::explain;
use super::super::reach::{OperationRefused, OperationRequest};
use super::HostState;
use super::bindings::level3::capability::tools;
use super::operations::{json, lacking, lacking_power};

impl tools::Host for HostState {
    fn start(&mut self, request: String) -> Result<u32> {
        Self::start(self, &request, read)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolRequest {
    name: String,
    #[serde(default)]
    params: Option<Value>,
}

fn read(grants: &Grants, request: &str) -> Result<OperationRequest, OperationRefused> {
    let ToolRequest { name, params } = json(request)?;
    if !grants.tools.contains(&name) {
        let may: Vec<_> = grants.tools.iter().map(String::as_str).collect();
        let (may, name) = (may.join(", "), explain::clip(&name));
        let add = |grants: &mut Grants| {
            grants.tools.insert(name.clone());
        };
        if grants.tools.is_empty() {
            return Err(lacking_power(grants, Power::Tools, &format!("call {name}"), add).into());
        }
        let lacks = format!("this capability was not granted the tool `{name}`; it may call: {may}. To call {name}");
        return Err(lacking(grants, lacks, add).into());
    }
    Ok(OperationRequest::Tool { name, params: params.unwrap_or_else(|| value!({})) })
}
