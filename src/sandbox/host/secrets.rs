//! `secrets`: texts that stand for secrets until a request leaves.

use std::collections::BTreeSet;

use wasmtime::Result;

use crate::domain::{Grants, HttpGrant, SECRET_NAME_RULE, valid_secret_name};

use super::super::reach::Refused;
use super::State;
use super::bindings::level3::capability::secrets;
use super::operations::written_with;

impl secrets::Host for State {
    fn reference(&mut self, name: String) -> Result<Result<String, String>> {
        let reference = granted(&self.grants, &name).and_then(|()| self.reach.secret(&name));
        Ok(reference.map_err(|Refused(message)| message))
    }
}

fn granted(grants: &Grants, name: &str) -> Result<(), Refused> {
    if grants.secrets.contains_key(name) {
        return Ok(());
    }
    if !valid_secret_name(name) {
        return Err(Refused(format!("no secret has such a name: {SECRET_NAME_RULE}")));
    }
    let mut hosts: BTreeSet<_> = grants.http.iter().map(HttpGrant::binding).collect();
    if hosts.is_empty() {
        hosts.insert("api.example.com".to_owned());
    }
    let wider = written_with(grants, |grants| {
        grants.secrets.insert(name.to_owned(), hosts);
    });
    Err(Refused(format!(
        "this capability was not granted the secret {name}; to use it, write it again with grants {wider}, where the hosts are those \
         it is sent to"
    )))
}
