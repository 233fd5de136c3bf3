//! `kv`: values of a capability's own.

use wasmtime::Result;

use crate::domain::{Grants, Power};

use super::super::reach::{OperationRefused, OperationRequest};
use super::HostState;
use super::bindings::level3::capability::kv;
use super::operations::{json, lacking_power};

impl kv::Host for HostState {
    fn start(&mut self, request: String) -> Result<u32> {
        Self::start(self, &request, read)
    }
}

fn read(grants: &Grants, request: &str) -> Result<OperationRequest, OperationRefused> {
    if !grants.kv {
        return Err(lacking_power(grants, Power::Kv, "keep values between calls", |grants| grants.kv = true).into());
    }
    json(request).map(OperationRequest::Kv)
}
