//! `secrets`: texts that stand for secrets until a request leaves.

use std::collections::BTreeSet;

use wasmtime::Result;

use crate::domain::{Grants, HttpGrant, Power, SECRET_NAME_RULE, valid_secret_name};

use super::super::reach::{Missing, OperationRefused};
use super::HostState;
use super::bindings::level3::capability::secrets;
use super::operations::{lacking, lacking_power};

impl secrets::Host for HostState {
    fn reference(&mut self, name: String) -> Result<Result<String, String>> {
        let reference = granted(&self.grants, &name).and_then(|()| self.reach.secret(&name));
        Ok(self.noted(reference).map_err(|refused| refused.message))
    }
}

fn granted(grants: &Grants, name: &str) -> Result<(), OperationRefused> {
    if grants.secrets.contains_key(name) {
        return Ok(());
    }
    if !valid_secret_name(name) {
        return Err(OperationRefused::new(format!("no secret has such a name: {SECRET_NAME_RULE}")));
    }
    let mut hosts: BTreeSet<_> = grants.http.iter().map(HttpGrant::binding).collect();
    if hosts.is_empty() {
        hosts.insert("api.example.com".to_owned());
    }
    let add = |grants: &mut Grants| {
        grants.secrets.insert(name.to_owned(), hosts);
    };
    if grants.secrets.is_empty() {
        return Err(lacking_power(grants, Power::Secrets, &format!("use {name}"), add).into());
    }
    let lacks = format!("this capability was not granted the secret {name}; to use it");
    let after = ", where the hosts are those it is sent to";
    Err(Missing { after, whole: false, ..lacking(grants, lacks, add) }.into())
}
