//! Pages: a proposal about one is carried out in the person's browser, once, while somebody is
//! there. A touch stands in the ledger before it is felt, and its end is one transaction with the
//! outcome; a touch whose end nobody knows is never repeated. All of it begins with an event.

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::script::PresenceOf;
use crate::browser::{Browser, BrowserError, TabOf, Touched};
use crate::domain::campaign::CampaignProposal;
use crate::domain::campaign::page::{OPEN, PageHosts, PageTouch, READ};
use crate::domain::campaign::visit::PagePlan;
use crate::domain::{EffectClass, Image, ImageType, OperationKind, OperationState, Outcome, RefusalCode};
use crate::facts::{PageRead, PageTouched};
use crate::failpoint::{self, Point};
use crate::store::{DoneOutside, Earlier, NewImage, NewOperation, StoreError};
use crate::tools::{Act, CallCard, Doing, Executed, Kit};

/// The words if a page is not touched for want of a person.
const NOBODY: &str = "not run: nobody is there";
/// The words about a touch whose end nobody knows.
const UNKNOWN: &str = "Nobody knows whether this happened: the server, the browser or the tab went away in the middle of it. It is not \
                       repeated by itself; the person looks at the page.";

/// A proposal about a page that may be carried out.
pub(super) struct ReadPage {
    pub(super) proposal: CampaignProposal,
    pub(super) tool: String,
    pub(super) plan: PagePlan,
    pub(super) card: Vec<String>,
    pub(super) hosts: PageHosts,
    /// The tab that the campaign had, by the browser's name.
    pub(super) tab: Option<String>,
    pub(super) presence: PresenceOf,
    pub(super) browser: Browser,
}

impl ReadPage {
    /// The arguments that an approval is bound to: the node with role and name, and the address,
    /// and not its number alone.
    pub(super) fn bound(&self) -> Value {
        let PageTouch { address, node, text, .. } = self.plan.touch(&self.tool);
        let mut whole = match &self.proposal {
            CampaignProposal::ExecuteTool(run) => json!(run),
            other => json!(other),
        };
        let reading = match &self.plan {
            PagePlan::Click { reading, .. } | PagePlan::Type { reading, .. } => Some(reading),
            _ => None,
        };
        whole["bound"] = json!({ "address": address, "node": node, "text": text, "reading": reading });
        whole
    }

    fn tab_of(&self) -> TabOf<'_> {
        TabOf { campaign: self.presence.campaign, hosts: &self.hosts, known: self.tab.as_deref() }
    }

    /// Reads the page. It has no effect outside.
    async fn read(&self, doing: Doing<'_>) -> Result<Executed, StoreError> {
        let kit = doing.kit();
        let (page, notes) = match self.browser.read(doing.permit, self.tab_of()).await {
            Ok(read) => read,
            Err(error) => return Ok(failed(&error)),
        };
        let read = PageRead { turn: doing.lease.turn, call: doing.permit.call(), page };
        let mut unit = kit.store.begin(kit.clock.now()).await?;
        let came = unit.carry_out_proposal(doing.permit, doing.lease, &self.proposal, Some(DoneOutside::Read(&read))).await?;
        match came {
            Ok(told) => Ok(Executed::Within(unit, Outcome::ok(with_notes(told, &notes)))),
            Err(why) => {
                drop(unit);
                Ok(Executed::Outcome(Outcome::failed(why)))
            }
        }
    }

    /// Takes a picture of the page, and keeps it.
    async fn picture(&self, doing: Doing<'_>, key: &str) -> Result<Executed, StoreError> {
        let kit = doing.kit();
        let bytes = match self.browser.picture(doing.permit, self.tab_of()).await {
            Ok(bytes) => bytes,
            Err(error) => return Ok(failed(&error)),
        };
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let sha256 = crate::domain::campaign::sha256(&bytes);
        let image = NewImage { image: Image { sha256, media_type: ImageType::Png, size }, bytes };
        let mut unit = kit.store.begin(kit.clock.now()).await?;
        let done = DoneOutside::Pictured { key, image: &image };
        match unit.carry_out_proposal(doing.permit, doing.lease, &self.proposal, Some(done)).await? {
            Ok(told) => Ok(Executed::Within(unit, Outcome::ok(told))),
            Err(why) => {
                drop(unit);
                Ok(Executed::Outcome(Outcome::failed(why)))
            }
        }
    }

    /// Touches the page, once. The ledger knows of it before.
    async fn touch(&self, doing: Doing<'_>) -> Result<Executed, StoreError> {
        let kit = doing.kit();
        let begun = self.plan.touch(&self.tool);
        let request = begun.request();
        let operation = NewOperation {
            permit: doing.permit,
            ordinal: 1,
            kind: OperationKind::Browser,
            class: EffectClass::Neither,
            request: &request,
            request_sha256: Sha256::digest(request.to_string()).into(),
        };
        let (touch, fresh) = match kit.store.earlier_operation(&operation).await? {
            Earlier::New => {
                // The operation is not begun while nobody watches.
                if self.presence.is_away(kit) {
                    return Ok(nobody());
                }
                hit(Point::BeforeIntent)?;
                kit.store.begin_touch(doing.lease, &operation, &doing.proposal.tool, kit.clock.now()).await?;
                hit(Point::AfterIntent)?;
                let touched = self.browser.touch(doing.permit, self.tab_of(), &self.plan).await;
                hit(Point::AfterSend)?;
                (ended(begun, touched), true)
            }
            // A program before this one died over it, and the ledger may say so already.
            Earlier::Intended | Earlier::Different | Earlier::Done(_) => (PageTouch { told: UNKNOWN.to_owned(), ..begun }, false),
        };
        Ok(self.end(doing, &operation, touch, fresh).await?.begun())
    }

    /// Records the end of a touch: ledger, event, outcome and the task's change are one
    /// transaction. The ledger may have the end of one that is not fresh already.
    async fn end(
        &self,
        doing: Doing<'_>,
        operation: &NewOperation<'_>,
        touch: PageTouch,
        fresh: bool,
    ) -> Result<Executed, StoreError> {
        let kit = doing.kit();
        let (state, told) = (touch.state, touch.told.clone());
        let mut touched = PageTouched { turn: doing.lease.turn, call: doing.permit.call(), touch };
        if state == OperationState::Done {
            let mut unit = kit.store.begin(kit.clock.now()).await?;
            let done = DoneOutside::Touched(&touched);
            match unit.carry_out_proposal(doing.permit, doing.lease, &self.proposal, Some(done)).await? {
                Ok(outcome) => {
                    // After the campaign is held: the order of locks.
                    unit.end_operation(doing.lease, operation, state, Some(&told)).await?;
                    return Ok(Executed::Within(unit, Outcome::ok(outcome)));
                }
                // It happened all the same.
                Err(why) => touched.touch.told = format!("{told} But: {why}"),
            }
        }
        let told = touched.touch.told.clone();
        if !fresh {
            match kit.store.end_operation(doing.lease, operation, state, Some(&told), kit.clock.now()).await {
                Ok(()) | Err(StoreError::LostLease) => {}
                Err(error) => return Err(error),
            }
        }
        let mut unit = kit.store.begin(kit.clock.now()).await?;
        unit.record_touch_alone(doing.permit, doing.lease, &touched).await?;
        if fresh {
            unit.end_operation(doing.lease, operation, state, Some(&told)).await?;
        }
        Ok(Executed::Within(unit, Outcome::failed(told)))
    }
}

/// The touch as it ended.
fn ended(begun: PageTouch, touched: Result<Touched, BrowserError>) -> PageTouch {
    match touched {
        Ok(Touched { address, left, tab, otherwise, notes }) => {
            let (state, came) = match (otherwise, &begun.node) {
                (Some(otherwise), _) => (OperationState::Failed, otherwise),
                (None, Some(node)) => (OperationState::Done, format!("{} on {node} was done", begun.tool)),
                (None, None) => (OperationState::Done, format!("{} was done", begun.tool)),
            };
            let came = format!("{came}; the page is at {address}.");
            let came = if left { format!("{came} Propose {READ} to see it.") } else { came };
            let told = with_notes(came, &notes);
            PageTouch { state, told, now_at: Some(address), left, tab: Some(tab), ..begun }
        }
        Err(error) if error.may_have_happened() => PageTouch { told: format!("{UNKNOWN} ({error})"), ..begun },
        // The page is as it was, unless another one was to be opened.
        Err(error) => {
            let left = begun.tool == OPEN;
            PageTouch { state: OperationState::Failed, told: error.to_string(), left, ..begun }
        }
    }
}

fn with_notes(told: String, notes: &[String]) -> String {
    notes.iter().fold(told, |told, note| format!("{told} [controller] {note}."))
}

fn nobody() -> Executed {
    Executed::Outcome(Outcome { refusal: Some(RefusalCode::Gone), ..Outcome::failed(NOBODY) })
}

fn failed(error: &BrowserError) -> Executed {
    Executed::Outcome(Outcome::failed(error.to_string()))
}

fn hit(point: Point) -> Result<(), StoreError> {
    failpoint::hit(point).map_err(StoreError::broken)
}

impl Act for ReadPage {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        std::future::ready(Ok(CallCard::of(self.card.clone()))).boxed()
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move {
            if self.plan.touches() {
                return self.touch(doing).await;
            }
            let kit = doing.kit();
            if self.presence.is_away(kit) {
                return Ok(nobody());
            }
            kit.store.begin_deed(doing.lease, doing.permit, &doing.proposal.tool, None, kit.clock.now()).await?;
            let executed = match &self.plan {
                PagePlan::Screenshot { key } => self.picture(doing, key).await?,
                _ => self.read(doing).await?,
            };
            Ok(executed.begun())
        }
        .boxed()
    }
}
