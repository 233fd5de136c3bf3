//! The newest lines of a campaign's audit, as its events have them. The statement in `rows` reads
//! the same from the tables.

use std::collections::BTreeSet;

use crate::domain::ToolCallId;
use crate::domain::campaign::audit::{AuditLine, MOST_AUDIT, VersionName};
use crate::domain::campaign::script::BoundArtifact;
use crate::domain::campaign::{Artifact, ArtifactType};
use crate::facts::{Event, EventRecord};

/// The newest lines, the oldest first; these are the calls with an operation that is unknown.
pub(super) fn audit_of(records: &[EventRecord], unknown: &BTreeSet<ToolCallId>) -> Vec<AuditLine> {
    let newest = records.iter().rev().filter_map(|record| line(&record.event, unknown));
    let mut lines: Vec<_> = newest.take(MOST_AUDIT).collect();
    lines.reverse();
    lines
}

fn line(event: &Event, unknown: &BTreeSet<ToolCallId>) -> Option<AuditLine> {
    Some(match event {
        Event::ToolCallEnded(ended) => AuditLine::ToolCallEnded { call: ended.call, unknown: unknown.contains(&ended.call) },
        Event::ProposalRefused(refused) => AuditLine::ProposalRefused { why: refused.why.clone() },
        Event::ScriptRan(ran) => {
            let files = ran.files.iter().map(named).collect();
            AuditLine::ScriptRan { script: named(&ran.script), files, ok: ran.ok }
        }
        Event::ArtifactKept(kept) if kept.artifact.artifact_type == ArtifactType::File => {
            let Artifact { artifact_type, artifact_key, version, source, .. } = &kept.artifact;
            let file = VersionName { kind: *artifact_type, key: artifact_key.clone(), version: *version };
            AuditLine::ArtifactKept { file, source: *source }
        }
        Event::PageRead(read) => AuditLine::PageRead { address: read.page.address.clone() },
        Event::PageTouched(touched) => AuditLine::PageTouched { touch: touched.touch.clone() },
        _ => return None,
    })
}

fn named(artifact: &BoundArtifact) -> VersionName {
    VersionName { kind: artifact.kind, key: artifact.key.clone(), version: artifact.version }
}
