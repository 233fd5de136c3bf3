//! Campaigns: each change of one, of its tasks, leads, artifacts and approval contexts, and its
//! cycles. The live rows are made by the same readings as those of replay.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fact::{Fact, Reading, line};
use super::message::{ATTACHMENTS, MESSAGES, attachments};
use super::rows::{CONVERSATIONS, Change, Table, fields};
use crate::domain::campaign::page::{PageReading, PageTouch};
use crate::domain::campaign::script::BoundArtifact;
use crate::domain::campaign::words::ProgramWords;
use crate::domain::campaign::{ApprovalContext, Artifact, CAMPAIGN_PROFILE, Campaign, CampaignInput, CampaignTask, Lead};
use crate::domain::{Image, StepId, ToolCallId, TurnId, UserId};
use crate::wire::ServerFrame;

/// The most leads of a frame.
const MOST_LEADS: usize = 50;

/// The campaigns.
pub(super) static CAMPAIGNS: Table = Table::all("campaigns", "id::text");
/// Their tasks.
pub(super) static CAMPAIGN_TASKS: Table = Table::all("campaign_tasks", "id::text");
/// Their leads.
pub(super) static LEADS: Table = Table::all("leads", "id::text");
/// Their artifacts.
pub(super) static ARTIFACTS: Table = Table::all("artifacts", "id::text");
/// Their approval contexts.
pub(super) static CAMPAIGN_CONTEXTS: Table = Table::all("campaign_contexts", "id::text");

/// A row that is a value as it is, but for the number of the event.
fn row<T: Serialize>(value: &T, sequence: Option<i64>) -> Value {
    let mut row = fields(json!(value));
    if let Some(sequence) = sequence {
        row.insert("sequence".to_owned(), json!(sequence));
    }
    Value::Object(row)
}

fn campaign_row(campaign: &Campaign) -> Change {
    let mut row = fields(json!(campaign));
    // An event has these only if they say something; the row that it makes has them in any case.
    for name in ["cycles_left", "no_answer"] {
        row.entry(name).or_insert(Value::Null);
    }
    CAMPAIGNS.set(campaign.id, Value::Object(row))
}

/// The frame that shows a campaign.
fn shown(campaign: &Campaign, content: &str) -> ServerFrame {
    ServerFrame::Campaign { campaign: json!(campaign), content: content.to_owned() }
}

/// How the conversation of a campaign was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignConversation {
    /// Whose it is.
    pub user_id: UserId,
    /// The profile of its turns.
    pub profile: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}

impl CampaignConversation {
    /// That of a campaign whose first event does not say it: at that time all were made like this.
    fn unsaid(campaign: &Campaign) -> Self {
        Self { user_id: UserId::OWNER, profile: CAMPAIGN_PROFILE.to_owned(), created_at: campaign.created_at }
    }
}

/// A campaign was made, or something of it changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CampaignChanged {
    /// The campaign as it is now.
    pub campaign: Campaign,
    /// The input that it took; `None` if its state stayed.
    pub input: Option<CampaignInput>,
    /// The change, in words.
    pub what: String,
    /// Its conversation, if it was made with the campaign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<CampaignConversation>,
}

impl Fact for CampaignChanged {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { campaign, input: _, what, made } = self;
        to.rows(|at| {
            // The first event of a stream makes its campaign, and older ones do not say how.
            let unsaid = || (at.sequence == 1).then(|| CampaignConversation::unsaid(campaign));
            let made = made.clone().or_else(unsaid);
            let conversation = made.map(|made| CONVERSATIONS.set(campaign.conversation_id, json!(made)));
            conversation.into_iter().chain([campaign_row(campaign)])
        })
        .frame(|_| shown(campaign, what))
        .print(|| (format!("campaign {} {what}", campaign.id), campaign.name.clone()));
    }
}

/// A task of a campaign was made or changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CampaignTaskChanged {
    /// The task as it is now.
    pub task: CampaignTask,
    /// The change, in words.
    pub what: String,
}

impl Fact for CampaignTaskChanged {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { task, what } = self;
        to.rows(|at| [CAMPAIGN_TASKS.set(task.id, row(task, Some(at.sequence)))])
            .frame(|at| ServerFrame::CampaignTask { task: row(task, Some(at.sequence)), content: what.clone() })
            .print(|| (format!("campaign {}, task {} {what}", task.campaign_id, task.id), task.description.clone()));
    }
}

/// A call has read a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRead {
    /// The call.
    pub call: ToolCallId,
    /// The file, by its sha256.
    pub file: BoundArtifact,
}

/// Leads came in or changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeadsKept {
    /// The leads as they are now.
    pub leads: Vec<Lead>,
    /// The change, in words.
    pub what: String,
    /// The file that a call has read for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<FileRead>,
}

impl Fact for LeadsKept {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { leads, what, read: _ } = self;
        to.rows(|at| leads.iter().map(|lead| LEADS.set(lead.id, row(lead, Some(at.sequence)))).collect::<Vec<_>>())
            .frame(|at| {
                let first = leads.iter().take(MOST_LEADS).map(|lead| row(lead, Some(at.sequence)));
                ServerFrame::Lead { leads: first.collect(), count: leads.len(), content: what.clone() }
            })
            .print(|| (format!("{} leads {what}", leads.len()), ""));
    }
}

/// A version of an artifact was kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArtifactKept {
    /// The artifact, with its content.
    pub artifact: Artifact,
    /// The picture that its content names, if its bytes came with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Image>,
}

impl Fact for ArtifactKept {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { artifact, image } = self;
        to.rows(|at| {
            attachments(image.as_slice())
                .chain([ARTIFACTS.set(artifact.id, row(artifact, Some(at.sequence)))])
                .collect::<Vec<_>>()
        })
        .frame(|at| {
            let mut shown = fields(row(artifact, Some(at.sequence)));
            shown.remove("content");
            ServerFrame::Artifact { artifact: Value::Object(shown) }
        })
        .print(|| {
            let Artifact { campaign_id, artifact_type, artifact_key, version, source, .. } = artifact;
            let what = format!("campaign {campaign_id}: {artifact_type} {artifact_key} version {version} kept, by {source}");
            (what, artifact.content.chars().take(200).collect::<String>())
        });
    }
}

/// A person gave an approval context, or it was used or taken back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextChanged {
    /// The context as it is now.
    pub context: ApprovalContext,
}

impl Fact for ContextChanged {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { context } = self;
        to.rows(|_| [CAMPAIGN_CONTEXTS.set(context.id, row(context, None))]).print(|| {
            let ApprovalContext { id, kind, uses_left, void, .. } = context;
            let what = if *void { "void".to_owned() } else { format!("{uses_left} left") };
            (format!("approval context {id} ({kind}): {what}"), "")
        });
    }
}

/// The program's words in the requests from here on: they are others than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleWords {
    /// The turn of the first request with them.
    pub turn: TurnId,
    /// Their fingerprint.
    pub sha256: String,
    /// The words.
    pub words: ProgramWords,
}

impl Fact for CycleWords {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn: _, sha256, words } = self;
        to.print(|| (format!("requests of cycles are made in the words {sha256}"), words.rules.clone()));
    }
}

/// A cycle asks the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CycleAsked {
    /// The turn.
    pub turn: TurnId,
    /// The step that will hold the answer.
    pub number: i32,
    /// The last event that its state includes.
    pub upto: i64,
    /// sha256 of the state.
    pub state_sha256: String,
    /// sha256 of the rules.
    pub rules_sha256: String,
    /// sha256 of the request.
    pub request_sha256: String,
    /// The files whose content the request shows, by their sha256.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<BoundArtifact>,
}

impl Fact for CycleAsked {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn: _, number, upto, state_sha256, rules_sha256: _, request_sha256, files: _ } = self;
        to.log(|_| {
            [line("cycle_asked", json!({ "state": state_sha256, "request": request_sha256 }), format!("request {number}"))]
        })
        .print(|| (format!("request {number} of a cycle, by the events up to {upto}"), format!("state {state_sha256}")));
    }
}

/// An answer was no proposal that may be carried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposalRefused {
    /// The turn.
    pub turn: TurnId,
    /// The step of the answer.
    pub step: StepId,
    /// The fault.
    pub why: String,
    /// The campaign as it is now.
    pub campaign: Campaign,
}

impl Fact for ProposalRefused {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn: _, step, why, campaign } = self;
        to.rows(|_| [campaign_row(campaign)])
            .frame(|_| shown(campaign, why))
            .log(|_| [line("proposal_refused", json!({ "step": step, "why": why }), why.clone())])
            .print(|| (format!("campaign {}: a proposal was refused", campaign.id), why.clone()));
    }
}

/// A script has run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptRan {
    /// The turn.
    pub turn: TurnId,
    /// The call.
    pub call: ToolCallId,
    /// The script, by its sha256.
    pub script: BoundArtifact,
    /// The value that it got.
    pub input: Value,
    /// The files that it could read, by their sha256.
    pub files: Vec<BoundArtifact>,
    /// The hosts that it could reach, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// True if it has a result, and its effects are recorded.
    pub ok: bool,
    /// Its result, or why there is none.
    pub output: String,
    /// The lines that it logged.
    pub logs: Vec<String>,
}

impl Fact for ScriptRan {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn: _, call, script, input: _, files, hosts: _, ok, output, logs: _ } = self;
        let BoundArtifact { key, version, sha256, .. } = script;
        let how = if *ok { "ran well" } else { "failed" };
        to.log(|_| {
            let body = json!({ "call": call, "script": sha256, "files": files, "ok": ok });
            [line("script_ran", body, format!("{key} version {version} {how}"))]
        })
        .print(|| (format!("script {key} version {version} {how}"), output.clone()));
    }
}

/// A page was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageRead {
    /// The turn.
    pub turn: TurnId,
    /// The call.
    pub call: ToolCallId,
    /// The page as it was read.
    pub page: PageReading,
}

impl Fact for PageRead {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn: _, call, page } = self;
        to.log(|_| {
            let body = json!({ "call": call, "address": page.address, "nodes": page.nodes.len(), "bytes": page.text.len() });
            [line("page_read", body, page.address.clone())]
        })
        .print(|| (format!("page {} was read", page.address), page.text.chars().take(200).collect::<String>()));
    }
}

/// Something was done to a page, or was not, or nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageTouched {
    /// The turn.
    pub turn: TurnId,
    /// The call.
    pub call: ToolCallId,
    /// The touch.
    pub touch: PageTouch,
}

impl Fact for PageTouched {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn: _, call, touch } = self;
        let PageTouch { tool, address, node, state, told, .. } = touch;
        to.log(|_| {
            let body = json!({ "call": call, "tool": tool, "address": address, "node": node, "state": state });
            [line("page_touched", body, told.clone())]
        })
        .print(|| (format!("{tool} on {address}: {state}"), told.clone()));
    }
}

/// A cycle has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CycleEnded {
    /// The turn.
    pub turn: TurnId,
    /// The kind of its proposal, if one was judged.
    pub proposal: Option<String>,
    /// The verdict and the outcome, in words.
    pub came: String,
    /// How it goes on, in words.
    pub next: String,
    /// The campaign as it is now.
    pub campaign: Campaign,
}

impl Fact for CycleEnded {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { turn: _, proposal, came, next, campaign } = self;
        to.rows(|_| [campaign_row(campaign)])
            .frame(|_| shown(campaign, came))
            .log(|_| [line("cycle_ended", json!({ "proposal": proposal, "came": came, "next": next }), came.clone())])
            .print(|| (format!("campaign {}, cycle {} ended; {next}", campaign.id, campaign.cycles), came.clone()));
    }
}

/// A person had the chat of a campaign forgotten.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatForgotten {
    /// The keys of the messages that are gone, as replay names them.
    pub messages: Vec<String>,
    /// The sha256 of the images that are gone with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
}

impl Fact for ChatForgotten {
    fn read(&self, to: &mut Reading<'_>) {
        let Self { messages, images } = self;
        to.rows(|_| {
            let images = images.iter().map(|image| ATTACHMENTS.gone(image));
            messages.iter().map(|message| MESSAGES.gone(message)).chain(images).collect::<Vec<_>>()
        })
        .print(|| (format!("{} messages forgotten", messages.len()), ""));
    }
}
