//! Keeps the tabs: answers what the browser asks about them, and refuses what a page may not do.
//! Nothing of a person's other tabs is read or recorded.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::cdp::{CdpEvent, Connection};
use super::fence::{FenceVerdict, brief, judge};
use crate::domain::campaign::page::PageHosts;

/// The most sentences that are kept between two interactions.
const MOST_NOTES: usize = 20;
/// A new tab has this long for its first request.
const FIRST_REQUEST: Duration = Duration::from_millis(500);
/// The most characters of a dialog's text.
const MOST_DIALOG: usize = 300;

/// The signs of life of a tab.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Signs {
    /// How often the page began to go somewhere.
    pub(super) started: u64,
    /// The number of starts when it last came to rest.
    pub(super) rested: u64,
    /// How many dialogs it opened.
    pub(super) dialogs: u64,
    /// The tab or the browser is gone.
    pub(super) gone: bool,
}

/// The part of a tab that its keeper and its user share.
#[derive(Debug, Default)]
struct Shared {
    hosts: PageHosts,
    notes: Vec<String>,
    /// Frames of other sites that are processes of their own: frame, session.
    frames: BTreeMap<String, String>,
    /// It left a command without an answer: its page may be in a loop without end, and it is not
    /// used again.
    given_up: bool,
}

/// The same behind its lock. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedTab(Arc<Mutex<Shared>>);

impl SharedTab {
    fn with<T>(&self, change: impl FnOnce(&mut Shared) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the hosts that may be opened from now on.
    pub(super) fn allow(&self, hosts: &PageHosts) {
        self.with(|shared| shared.hosts = hosts.clone());
    }

    /// Keeps a sentence for the next answer.
    pub(super) fn note(&self, note: String) {
        self.with(|shared| {
            if shared.notes.len() < MOST_NOTES && !shared.notes.contains(&note) {
                shared.notes.push(note);
            }
        });
    }

    /// Takes the sentences.
    pub(super) fn take_notes(&self) -> Vec<String> {
        self.with(|shared| std::mem::take(&mut shared.notes))
    }

    /// Gives the tab up.
    pub(super) fn give_up(&self) {
        self.with(|shared| shared.given_up = true);
    }

    /// True if it was given up.
    pub(super) fn is_given_up(&self) -> bool {
        self.with(|shared| shared.given_up)
    }

    /// The sessions of frames of other sites.
    pub(super) fn frames(&self) -> BTreeMap<String, String> {
        self.with(|shared| shared.frames.clone())
    }

    fn judge(&self, paused: &Value, main: &str) -> FenceVerdict {
        self.with(|shared| judge(paused, main, &shared.hosts))
    }
}

/// The tabs of campaigns, by the browser's names.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnTabs(Arc<Mutex<BTreeMap<String, SharedTab>>>);

impl OwnTabs {
    /// Counts a tab among them.
    pub(super) fn add(&self, target: &str, shared: &SharedTab) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(target.to_owned(), shared.clone());
    }

    /// True if a tab is one of them that was given up.
    pub(super) fn gave_up(&self, target: &str) -> bool {
        let own = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        own.get(target).is_some_and(SharedTab::is_given_up)
    }

    fn has(&self, target: &Value) -> bool {
        let name = target["targetId"].as_str().unwrap_or_default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(name)
    }

    fn opener(&self, target: &Value) -> Option<SharedTab> {
        let opener = target["openerId"].as_str()?;
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(opener).cloned()
    }
}

/// Keeps the browser itself: tabs that a campaign's page opens are closed before their first
/// request. Any other new tab goes on at once.
pub(super) async fn keep_browser(connection: Weak<Connection>, mut events: mpsc::UnboundedReceiver<CdpEvent>, own: OwnTabs) {
    while let Some(CdpEvent { method, params }) = events.recv().await {
        let Some(connection) = connection.upgrade() else { return };
        if method != "Target.attachedToTarget" {
            continue;
        }
        let target = params["targetInfo"].clone();
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let waits = params["waitingForDebugger"] == true;
        // We attached to it ourselves. One that waits was made for one campaign while another
        // clicked: by this session it is held like any new tab, and if nobody let it go on, it
        // would never answer.
        if own.has(&target) && !waits {
            continue;
        }
        let opener = if own.has(&target) { None } else { own.opener(&target) };
        tokio::spawn(async move {
            if let Some(opener) = opener {
                opener.note("the page wanted to open a new tab, which was refused".to_owned());
                if target["canAccessOpener"] == true {
                    end_first_request(&connection, &session).await;
                }
                let _ = connection.call("", "Target.closeTarget", json!({ "targetId": target["targetId"] })).await;
                return;
            }
            if waits {
                let _ = connection.call(&session, "Runtime.runIfWaitingForDebugger", json!({})).await;
            }
            let _ = connection.call("", "Target.detachFromTarget", json!({ "sessionId": session })).await;
        });
    }
}

/// True if a page goes to another place of itself: nothing is loaded.
fn within_document(started: &Value) -> bool {
    started["navigationType"].as_str().is_some_and(|kind| kind.to_ascii_lowercase().contains("samedocument"))
}

/// Lets a tab go on until its first request, and ends that. A tab that can reach its opener shares
/// its thread: closed while it waits, it would leave the page that opened it standing still. One
/// without an opener began its request before, and is closed as it waits.
async fn end_first_request(connection: &Arc<Connection>, session: &str) {
    let mut events = connection.listen(session);
    if connection.call(session, "Fetch.enable", json!({})).await.is_err() {
        return;
    }
    let first = async {
        while let Some(CdpEvent { method, params }) = events.recv().await {
            if method == "Fetch.requestPaused" {
                let failed = json!({ "requestId": params["requestId"], "errorReason": "Aborted" });
                let _ = connection.call(session, "Fetch.failRequest", failed).await;
                return;
            }
        }
    };
    let goes_on = connection.call(session, "Runtime.runIfWaitingForDebugger", json!({}));
    // A tab without an address makes no request.
    let _ = futures::join!(goes_on, timeout(FIRST_REQUEST, first));
}

/// A tab as its keeper knows it.
pub(super) struct KeptTab {
    pub(super) connection: Weak<Connection>,
    pub(super) session: String,
    /// The browser's name of the tab, which is that of its main frame, too.
    pub(super) target: String,
    pub(super) shared: SharedTab,
    pub(super) signs: watch::Sender<Signs>,
}

impl KeptTab {
    /// Keeps the tab until it is gone.
    pub(super) async fn keep(self, mut events: mpsc::UnboundedReceiver<CdpEvent>) {
        while let Some(CdpEvent { method, params }) = events.recv().await {
            let main = params["frameId"] == self.target.as_str();
            match method.as_str() {
                "Fetch.requestPaused" => self.fence(&params),
                "Page.javascriptDialogOpening" => self.dismiss(&params),
                "Page.frameStartedNavigating" | "Page.frameRequestedNavigation" | "Page.frameStartedLoading"
                    if main && !within_document(&params) =>
                {
                    self.signs.send_modify(|signs| signs.started += 1);
                }
                "Page.frameStoppedLoading" if main => self.signs.send_modify(|signs| signs.rested = signs.started),
                "Page.fileChooserOpened" => {
                    self.shared.note("the page wanted a file of this machine, which was refused".to_owned())
                }
                "Page.windowOpen" => self.pop_up(),
                "Page.downloadWillBegin" => {
                    let address = brief(params["url"].as_str().unwrap_or_default());
                    self.shared
                        .note(format!("the page wanted to download {address}, which was ended; a small file may be there"));
                    self.send("", "Browser.cancelDownload", json!({ "guid": params["guid"] }));
                }
                "Target.attachedToTarget" if params["targetInfo"]["type"] == "iframe" => {
                    let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                    let (frame, session) = (name(&params["targetInfo"]["targetId"]), name(&params["sessionId"]));
                    self.shared.with(|shared| shared.frames.insert(frame, session));
                }
                "Target.detachedFromTarget" => {
                    self.shared.with(|shared| shared.frames.retain(|_, session| params["sessionId"] != session.as_str()));
                }
                _ => {}
            }
        }
        self.signs.send_modify(|signs| signs.gone = true);
    }

    /// Sends a command whose answer nobody needs.
    fn send(&self, session: &str, method: &'static str, params: Value) {
        let (connection, session) = (self.connection.clone(), session.to_owned());
        tokio::spawn(async move {
            let Some(connection) = connection.upgrade() else { return };
            if let Err(fault) = connection.call(&session, method, params).await {
                tracing::debug!(method, %fault, "a command to the browser had no effect");
            }
        });
    }

    fn fence(&self, paused: &Value) {
        let id = &paused["requestId"];
        let responds = paused.get("responseStatusCode").is_some() || paused.get("responseErrorReason").is_some();
        match self.shared.judge(paused, &self.target) {
            FenceVerdict::Pass if responds => self.send(&self.session, "Fetch.continueResponse", json!({ "requestId": id })),
            FenceVerdict::Pass => self.send(&self.session, "Fetch.continueRequest", json!({ "requestId": id })),
            FenceVerdict::Refuse(why) => {
                self.shared.note(why);
                // An aborted navigation leaves the page where it is.
                self.send(&self.session, "Fetch.failRequest", json!({ "requestId": id, "errorReason": "Aborted" }));
            }
        }
    }

    /// Dismisses a dialog. The question whether to leave a page is answered with yes: to leave it
    /// was approved.
    fn dismiss(&self, dialog: &Value) {
        let leaves = dialog["type"] == "beforeunload";
        if !leaves {
            let kind = dialog["type"].as_str().unwrap_or("dialog");
            let words: String = dialog["message"].as_str().unwrap_or_default().chars().take(MOST_DIALOG).collect();
            self.shared.note(format!("the page showed a dialog ({kind}), which was dismissed: “{words}”"));
        }
        self.send(&self.session, "Page.handleJavaScriptDialog", json!({ "accept": leaves }));
        self.signs.send_modify(|signs| signs.dialogs += 1);
    }

    /// Closes what a page opened outside an interaction, when nothing holds new tabs.
    fn pop_up(&self) {
        self.shared.note("the page wanted to open a new tab, which was refused".to_owned());
        let (connection, target) = (self.connection.clone(), self.target.clone());
        tokio::spawn(async move {
            let Some(connection) = connection.upgrade().filter(|held| held.interacting.load(Ordering::SeqCst) == 0) else {
                return;
            };
            let Ok(mut all) = connection.call("", "Target.getTargets", json!({ "filter": [{ "type": "page" }] })).await else {
                return;
            };
            let opened = all["targetInfos"].take();
            for one in opened.as_array().into_iter().flatten().filter(|one| one["openerId"] == target.as_str()) {
                let _ = connection.call("", "Target.closeTarget", json!({ "targetId": one["targetId"] })).await;
            }
        });
    }
}
