//! The newest lines of a campaign's audit, as a request shows them: calls, answers that were
//! refused, scripts with the files that they read, files that were written, pages.

use std::fmt;

use serde::Deserialize;

use super::artifact::{ArtifactSource, ArtifactType};
use super::page::PageTouch;
use crate::domain::ToolCallId;

/// The lines that a state has.
pub const MOST_AUDIT: usize = 15;

/// A line of the audit. A model request is none: it would stand there once for each cycle, and what
/// it shows stands in it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AuditLine {
    /// A call has its outcome.
    ToolCallEnded {
        /// The call.
        call: ToolCallId,
        /// True if nobody knows whether something that it did outside has happened.
        unknown: bool,
    },
    /// An answer was no proposal that may be carried out.
    ProposalRefused {
        /// The fault.
        why: String,
    },
    /// A script ran.
    ScriptRan {
        /// The script.
        script: VersionName,
        /// The files that it could read.
        files: Vec<VersionName>,
        /// True if it has a result.
        ok: bool,
    },
    /// A file was written.
    ArtifactKept {
        /// The file.
        file: VersionName,
        /// The one whose request it was.
        source: ArtifactSource,
    },
    /// A page was read.
    PageRead {
        /// Its address.
        address: String,
    },
    /// A page was touched, or was to be.
    PageTouched {
        /// The touch.
        touch: PageTouch,
    },
}

/// The name of a version of an artifact.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct VersionName {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ArtifactType,
    /// Its key.
    pub key: String,
    /// Its version.
    pub version: i32,
}

impl fmt::Display for VersionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} version {}", self.kind, self.key, self.version)
    }
}
