//! `kv`: values of a capability's own.

use wasmtime::Result;

use crate::domain::Grants;

use super::super::reach::{Refused, Request};
use super::State;
use super::bindings::level3::capability::kv;
use super::operations::{json, written_with};

impl kv::Host for State {
    fn start(&mut self, request: String) -> Result<u32> {
        Self::start(self, &request, read)
    }
}

fn read(grants: &Grants, request: &str) -> Result<Request, Refused> {
    if !grants.kv {
        let wider = written_with(grants, |grants| grants.kv = true);
        return Err(Refused(format!("this capability was not granted `kv`; to keep values, write it again with grants {wider}")));
    }
    json(request).map(Request::Kv)
}
