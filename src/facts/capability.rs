//! Capabilities: a version becomes live, a person changes which one is.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fact::{Fact, Reading};
use super::rows::{Change, Stamp, Table};
use crate::wire::ServerFrame;

/// The versions that are kept.
pub(super) static CAPABILITY_VERSIONS: Table = Table {
    // The fingerprint is of all of these.
    unsaid: &["description", "language", "source", "parameters", "tests", "component", "engine"],
    instead: &[("fingerprint", "capability_fingerprint(capability_versions)")],
    ..Table::all("capability_versions", "concat_ws('/', name, version)")
};

/// The versions that are live.
pub(super) static CAPABILITIES: Table = Table::all("capabilities", "name");

fn live(at: Stamp, name: &str, version: i32, enabled: bool) -> Change {
    let state = if enabled { "installed" } else { "disabled" };
    let row = json!({ "name": name, "version": version, "state": state, "created_at": at.time, "updated_at": at.time });
    CAPABILITIES.set(name, row)
}

/// A new version of a capability is live.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapabilityInstalled {
    /// Its name.
    pub name: String,
    /// Its new version.
    pub version: i32,
    /// sha256 of the component.
    pub sha256: String,
    /// The powers it has.
    pub grants: Value,
    /// Fingerprint of everything kept of the version, in hexadecimal.
    #[serde(default)]
    pub fingerprint: String,
}

impl Fact for CapabilityInstalled {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { name, version, sha256, grants, fingerprint } = self;
        to.rows(|at| {
            let kept = json!({
                "name": name, "version": version, "sha256": sha256, "grants": grants, "fingerprint": fingerprint,
                "created_at": at.time,
            });
            [CAPABILITY_VERSIONS.set(format!("{name}/{version}"), kept), live(at, name, *version, true)]
        })
        .frame(|_| ServerFrame::Capability { name: name.clone(), version: *version, enabled: true });
    }
}

/// A person disabled, enabled or rolled back a capability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapabilityChanged {
    /// Its name.
    pub name: String,
    /// The live version now.
    pub version: i32,
    /// True if it can be called.
    pub enabled: bool,
}

impl Fact for CapabilityChanged {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { name, version, enabled } = self;
        to.rows(|at| [live(at, name, *version, *enabled)]).frame(|_| ServerFrame::Capability {
            name: name.clone(),
            version: *version,
            enabled: *enabled,
        });
    }
}
