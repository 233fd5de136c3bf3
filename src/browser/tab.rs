//! One tab of a campaign's own, in the background: it is opened, read and pictured here, and
//! touched in `touch`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::timeout;
use url::Url;

use super::cdp::Connection;
use super::error::{BrowserError, CdpFault};
use super::keeper::{KeptTab, OwnTabs, SharedTab, Signs};
use super::tree::{FrameTree, NodePlace, written};
use crate::domain::campaign::page::{OPEN, PageHosts, PageNode, PageReading};

/// The most frames of a page that are read.
const MOST_FRAMES: usize = 20;
/// A page that does not go anywhere in this time stays.
const QUIET: Duration = Duration::from_millis(400);
/// A tab that is seen has drawn itself in this time.
const DRAWN: Duration = Duration::from_millis(200);
/// A page has this long to load; then it is taken as it is.
const LOAD: Duration = Duration::from_secs(15);

/// The last reading, with the places of its nodes.
pub(super) struct KnownReading {
    pub(super) name: String,
    pub(super) nodes: Vec<PageNode>,
    pub(super) places: HashMap<u32, NodePlace>,
}

/// A tab.
pub(super) struct Tab {
    pub(super) connection: Arc<Connection>,
    pub(super) session: String,
    pub(super) target: String,
    pub(super) shared: SharedTab,
    pub(super) signs: watch::Receiver<Signs>,
    pub(super) reading: Option<KnownReading>,
    readings: u64,
}

/// The document of a tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Document {
    pub(super) address: String,
    pub(super) loader: String,
}

impl Tab {
    /// Takes up the tab of this name, which a program before this one made; if it is gone and
    /// `anew` says so, a new one in the background.
    pub(super) async fn make(
        connection: &Arc<Connection>,
        own: &OwnTabs,
        known: Option<&str>,
        anew: bool,
    ) -> Result<Self, CdpFault> {
        let shared = SharedTab::default();
        let attach = |target: String| {
            // It is known to be ours before the browser tells that something attached to it.
            own.add(&target, &shared);
            async move {
                let attached =
                    connection.call("", "Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await?;
                Ok::<_, CdpFault>((target, named(&attached["sessionId"])))
            }
        };
        let again = match known {
            Some(known) => attach(known.to_owned()).await.ok(),
            None => None,
        };
        let taken_up = again.is_some();
        let (target, session) = match again {
            Some(again) => again,
            None if !anew => return Err(CdpFault::Gone),
            None => {
                let blank = json!({ "url": "about:blank", "background": true });
                let made = connection.call("", "Target.createTarget", blank).await?;
                attach(named(&made["targetId"])).await?
            }
        };
        let events = connection.listen(&session);
        let (sender, signs) = watch::channel(Signs::default());
        let kept = KeptTab {
            connection: Arc::downgrade(connection),
            session: session.clone(),
            target: target.clone(),
            shared: shared.clone(),
            signs: sender,
        };
        tokio::spawn(kept.keep(events));
        let tab = Self { connection: Arc::clone(connection), session, target, shared, signs, reading: None, readings: 0 };
        if anew && taken_up {
            tab.end_loading().await?;
        }
        let documents = |stage: &str| json!({ "urlPattern": "*", "resourceType": "Document", "requestStage": stage });
        let held = json!({ "patterns": [documents("Request"), documents("Response")] });
        // A tab in the background takes no input and gives no picture, unless it is told that it
        // has the focus.
        for (method, params) in [
            ("Page.enable", json!({})),
            ("Fetch.enable", held),
            ("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })),
            ("Page.setInterceptFileChooserDialog", json!({ "enabled": true })),
            ("Target.setAutoAttach", json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true })),
        ] {
            tab.call(method, params).await?;
        }
        Ok(tab)
    }

    /// True if it was closed or given up, or the browser ended.
    pub(super) fn is_gone(&self) -> bool {
        self.signs.borrow().gone || self.shared.is_given_up() || self.connection.is_gone()
    }

    /// Sends a command. A tab that leaves one without an answer would leave all others, and each
    /// touch would take as long: it is given up.
    pub(super) async fn call(&self, method: &'static str, params: Value) -> Result<Value, CdpFault> {
        match self.connection.call(&self.session, method, params).await {
            Err(CdpFault::Slow(method)) => {
                self.shared.give_up();
                Err(CdpFault::GivenUp(method))
            }
            answered => answered,
        }
    }

    /// Ends what is on its way to the tab: while a page does not come, the browser keeps commands
    /// to the one before it back. A tab that shows what it should is left alone: it would give no
    /// picture afterwards.
    pub(super) async fn end_loading(&self) -> Result<(), CdpFault> {
        self.call("Page.stopLoading", json!({})).await.map(drop)
    }

    /// True if a page is on its way to the tab.
    pub(super) fn loads(&self) -> bool {
        let signs = self.signs.borrow();
        signs.started > signs.rested
    }

    /// The document that it shows.
    pub(super) async fn document(&self) -> Result<Document, CdpFault> {
        let tree = self.call("Page.getFrameTree", json!({})).await?;
        let frame = &tree["frameTree"]["frame"];
        Ok(Document {
            address: named(&frame["url"]) + frame["urlFragment"].as_str().unwrap_or_default(),
            loader: named(&frame["loaderId"]),
        })
    }

    /// Goes to an address, and waits until it is there.
    pub(super) async fn go(&mut self, address: &Url) -> Result<(), BrowserError> {
        let before = *self.signs.borrow();
        self.reading = None;
        let went = self.call("Page.navigate", json!({ "url": address.as_str() })).await.map_err(CdpFault::amid)?;
        if let Some(error) = went["errorText"].as_str() {
            let notes = self.shared.take_notes();
            let why = if notes.is_empty() { format!("the browser says {error}") } else { notes.join("; ") };
            return Err(BrowserError::Refused(format!("{address} was not opened: {why}")));
        }
        // An address that differs in its fragment only loads nothing.
        if went["loaderId"].is_string() {
            self.rested(before).await.map_err(CdpFault::amid)?;
        }
        Ok(())
    }

    /// Waits until the page has come to rest after something that may have set it going.
    pub(super) async fn settle(&self, before: Signs) -> Result<(), CdpFault> {
        let mut signs = self.signs.clone();
        let began = timeout(QUIET, signs.wait_for(|now| now.started > before.started || now.gone)).await.is_ok();
        if began { self.rested(before).await } else { Ok(()) }
    }

    async fn rested(&self, before: Signs) -> Result<(), CdpFault> {
        let mut signs = self.signs.clone();
        // A page that loads for ever is taken as it is.
        let _ = timeout(LOAD, signs.wait_for(|now| now.rested > before.started || now.gone)).await;
        if self.is_gone() { Err(CdpFault::Gone) } else { Ok(()) }
    }

    /// Leaves a page that may not be shown. Gives the document that is shown now, with a word if it
    /// is another.
    pub(super) async fn held_to(&mut self, hosts: &PageHosts) -> Result<Document, CdpFault> {
        let document = self.document().await?;
        let allowed = Url::parse(&document.address).is_ok_and(|address| hosts.allow(&address));
        if allowed || document.address == "about:blank" {
            return Ok(document);
        }
        self.shared.note(format!("the page went to {}, which was left", super::fence::brief(&document.address)));
        self.call("Page.navigate", json!({ "url": "about:blank" })).await?;
        self.document().await
    }

    /// Reads the page with its frames.
    pub(super) async fn read(&mut self, hosts: &PageHosts) -> Result<PageReading, BrowserError> {
        let document = self.held_to(hosts).await.map_err(CdpFault::before)?;
        let Some(address) = Url::parse(&document.address).ok().filter(|address| hosts.allow(address)) else {
            return Err(BrowserError::Refused(format!("no page is open; propose {OPEN}")));
        };
        let (frames, title) = self.frames(hosts).await.map_err(CdpFault::before)?;
        let page = written(&frames);
        self.readings += 1;
        let name = format!("{}.{}", document.loader, self.readings);
        self.reading = Some(KnownReading { name: name.clone(), nodes: page.nodes.clone(), places: page.places });
        Ok(PageReading {
            reading: name,
            tab: self.target.clone(),
            address: address.to_string(),
            host: address.host_str().unwrap_or_default().to_owned(),
            title,
            text: page.text,
            nodes: page.nodes,
        })
    }

    /// The trees of the page's frames, and its title.
    async fn frames(&self, hosts: &PageHosts) -> Result<(Vec<FrameTree>, String), CdpFault> {
        let tree = self.call("Page.getFrameTree", json!({})).await?;
        let mut frames = Vec::new();
        gather(&tree["frameTree"], &mut frames);
        let (mut trees, mut title) = (Vec::new(), String::new());
        for (depth, frame) in frames.into_iter().take(MOST_FRAMES).enumerate() {
            let address = named(&frame["url"]);
            if depth > 0 && !readable(&address, hosts) {
                continue;
            }
            let asked = self.call("Accessibility.getFullAXTree", json!({ "frameId": frame["id"] })).await;
            let mut answer = match asked {
                Ok(answer) => answer,
                // A frame may go away while the page is read.
                Err(CdpFault::Refused(_)) if depth > 0 => continue,
                Err(fault) => return Err(fault),
            };
            let nodes = nodes(&mut answer);
            if depth == 0 {
                title = nodes.first().map(|root| super::tree::named(root).1).unwrap_or_default();
            }
            let (frame, loader) = (named(&frame["id"]), named(&frame["loaderId"]));
            trees.push(FrameTree { address: (depth > 0).then_some(address), frame, loader, touchable: true, nodes });
        }
        for (frame, session) in self.shared.frames().into_iter().take(MOST_FRAMES) {
            let of_frame = async {
                let tree = self.connection.call(&session, "Page.getFrameTree", json!({})).await?;
                let mut answer = self.connection.call(&session, "Accessibility.getFullAXTree", json!({})).await?;
                Ok::<_, CdpFault>((named(&tree["frameTree"]["frame"]["url"]), nodes(&mut answer)))
            };
            if let Ok((address, nodes)) = of_frame.await
                && readable(&address, hosts)
            {
                trees.push(FrameTree { address: Some(address), frame, loader: String::new(), touchable: false, nodes });
            }
        }
        Ok((trees, title))
    }

    /// A tab in the background draws nothing for one request, and both for two (Chromium 156); a
    /// busy browser may miss these as well. So it is asked again and again, and the first answer
    /// counts. The time of the first request ends it.
    async fn taken(&self) -> Result<Value, CdpFault> {
        let mut asked = FuturesUnordered::new();
        loop {
            asked.push(self.call("Page.captureScreenshot", json!({ "format": "png" })));
            if let Ok(Some(taken)) = timeout(DRAWN, asked.next()).await {
                return taken;
            }
        }
    }

    /// A picture of what is seen of the page, as PNG.
    pub(super) async fn picture(&mut self, hosts: &PageHosts) -> Result<Vec<u8>, BrowserError> {
        let document = self.held_to(hosts).await.map_err(CdpFault::before)?;
        if document.address == "about:blank" {
            return Err(BrowserError::Refused(format!("no page is open; propose {OPEN}")));
        }
        let taken = self.taken().await.map_err(CdpFault::before)?;
        let bytes = taken["data"].as_str().and_then(|data| STANDARD.decode(data).ok());
        bytes.ok_or_else(|| BrowserError::Refused("the browser gave no picture".to_owned()))
    }
}

/// A frame of the page's own making has no address of its own; any other is read if its host is
/// allowed.
fn readable(address: &str, hosts: &PageHosts) -> bool {
    address.starts_with("about:") || Url::parse(address).is_ok_and(|address| hosts.allow(&address))
}

fn gather<'a>(tree: &'a Value, frames: &mut Vec<&'a Value>) {
    frames.push(&tree["frame"]);
    for child in tree["childFrames"].as_array().into_iter().flatten() {
        gather(child, frames);
    }
}

fn nodes(answer: &mut Value) -> Vec<Value> {
    match answer["nodes"].take() {
        Value::Array(nodes) => nodes,
        _ => Vec::new(),
    }
}

/// A text of an answer.
pub(super) fn named(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
