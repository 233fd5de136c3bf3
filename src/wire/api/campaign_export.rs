//! The export of a campaign.

use serde::Serialize;
use serde_json::Value;

use super::keys::by_name;
use crate::domain::campaign::state::MadeCall;
use crate::domain::campaign::{ApprovalContext, Artifact, Campaign, CampaignTask, Lead};

/// The whole of a campaign, from its tables or its events: both give the same bytes.
#[derive(Clone, Debug, Serialize)]
pub struct CampaignExport {
    /// The state.
    #[serde(serialize_with = "by_name")]
    pub state: ExportedCampaign,
    /// Its sha256.
    pub state_sha256: String,
}

/// The state of a campaign with all of its rows.
#[derive(Clone, Debug, Serialize)]
pub struct ExportedCampaign {
    /// The state as the model is shown it.
    pub shown: Value,
    /// The campaign.
    pub campaign: Campaign,
    /// Its approval contexts.
    pub contexts: Vec<ApprovalContext>,
    /// The calls of the state.
    pub calls: Vec<MadeCall>,
    /// Its tasks.
    pub tasks: Vec<CampaignTask>,
    /// All leads, the oldest first.
    pub leads: Vec<Lead>,
    /// Their sha256.
    pub leads_sha256: String,
    /// All versions of all artifacts, the oldest first.
    pub artifacts: Vec<Artifact>,
    /// Their sha256.
    pub artifacts_sha256: String,
    /// The last number of its stream.
    pub sequence: i64,
}
