//! Clicks, types and scrolls. All that can be refused is refused before the page feels anything;
//! after that, a loss is `unknown`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use url::Url;

use super::cdp::Connection;
use super::error::{BrowserError, CdpFault};
use super::keeper::Signs;
use super::tab::{Tab, named};
use super::tree;
use crate::domain::campaign::page::{OPEN, PageHosts, PageNode, READ};

/// Looks at a node.
const AIM: &str = include_str!("aim.js");
/// Focuses a field.
const FOCUS: &str = include_str!("focus.js");
/// Chooses an option.
const CHOOSE: &str = include_str!("choose.js");
/// Sets the value of a field of a date or a time.
const SET: &str = include_str!("set.js");
/// Reads back what was typed.
const STANDS: &str = include_str!("stands.js");
/// The world in which they run, which is not the page's.
const WORLD: &str = "level3";

/// A node that may be touched.
struct Aimed {
    /// The browser's name of the object, in a world of our own.
    object: String,
    seen: Value,
}

fn refused(why: impl Into<String>) -> BrowserError {
    BrowserError::Refused(why.into())
}

/// The page is another than the one that was read.
fn changed() -> BrowserError {
    refused(format!("the page has changed since it was read; propose {READ}"))
}

impl Tab {
    /// Clicks a node of a reading.
    pub(super) async fn click(&mut self, hosts: &PageHosts, reading: &str, node: &PageNode) -> Result<(), BrowserError> {
        let aimed = self.aim(hosts, reading, node).await?;
        let (Some(x), Some(y)) = (aimed.seen["x"].as_f64(), aimed.seen["y"].as_f64()) else { return Err(changed()) };
        if aimed.seen["file"] == true {
            return Err(refused(format!("{node} wants a file of this machine, and none is given")));
        }
        let before = *self.signs.borrow();
        let held = PopUpsHeld::new(&self.connection).await.map_err(CdpFault::before)?;
        let clicked = self.press(x, y, before).await;
        let settled = match clicked {
            Ok(()) => self.settle(before).await,
            Err(fault) => Err(fault),
        };
        drop(held);
        settled.map_err(CdpFault::amid)
    }

    /// Moves the mouse, presses and releases. A click that goes on to another page, or opens a
    /// dialog, is answered late or never.
    async fn press(&self, x: f64, y: f64, before: Signs) -> Result<(), CdpFault> {
        let mouse = |kind: &str, button: &str, count: u8| {
            let event = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": count });
            self.call("Input.dispatchMouseEvent", event)
        };
        mouse("mouseMoved", "none", 0).await?;
        mouse("mousePressed", "left", 1).await?;
        let mut signs = self.signs.clone();
        tokio::select! {
            released = mouse("mouseReleased", "left", 1) => released.map(drop),
            _ = signs.wait_for(|now| now.started > before.started || now.dialogs > before.dialogs || now.gone) => {
                if self.is_gone() { Err(CdpFault::Gone) } else { Ok(()) }
            }
        }
    }

    /// Replaces the text of a field. A field may take another text, or none: if so, the sentence
    /// says which stands there.
    pub(super) async fn fill(
        &mut self,
        hosts: &PageHosts,
        reading: &str,
        node: &PageNode,
        text: &str,
    ) -> Result<Option<String>, BrowserError> {
        let aimed = self.aim(hosts, reading, node).await?;
        if aimed.seen["secret"] == true {
            return Err(refused(format!("{node} takes a password or a code; the person types it, and a campaign never does")));
        }
        let before = *self.signs.borrow();
        match aimed.seen["kind"].as_str() {
            Some("input" | "rich") => {
                // To focus a field is felt by the page already.
                let stays = self.on(&aimed.object, FOCUS, json!([])).await.map_err(CdpFault::amid)?;
                if stays != true {
                    return Err(refused(format!("{node} does not keep the focus, so nothing was typed")));
                }
                self.call("Input.insertText", json!({ "text": text })).await.map_err(CdpFault::amid)?;
            }
            Some("dated") => {
                let set = self.on(&aimed.object, SET, json!([{ "value": text }])).await.map_err(CdpFault::amid)?;
                if set != true {
                    let like = aimed.seen["like"].as_str().unwrap_or_default();
                    return Err(refused(format!("{node} takes a value like {like}, and “{text}” is none")));
                }
            }
            Some("select") => {
                let chosen = self.on(&aimed.object, CHOOSE, json!([{ "value": text }])).await.map_err(CdpFault::amid)?;
                if chosen != true {
                    return Err(refused(format!("{node} has no one option “{text}”")));
                }
            }
            Some("off") => return Err(refused(format!("{node} is disabled or can only be read"))),
            _ => return Err(refused(format!("{node} is no field for text"))),
        }
        let stands = || self.on(&aimed.object, STANDS, json!([{ "value": text }]));
        let at_once = stands().await;
        self.settle(before).await.map_err(CdpFault::amid)?;
        // A script of the page may have put another text there, or have taken the field away.
        let other = match (stands().await, at_once) {
            (Ok(seen), _) | (Err(CdpFault::Refused(_)), Ok(seen)) => seen,
            (Err(CdpFault::Refused(_)), Err(CdpFault::Refused(_))) => Value::Null,
            (Err(CdpFault::Refused(_)), Err(fault)) | (Err(fault), _) => return Err(fault.amid()),
        };
        Ok(other.as_str().map(|other| match tree::one_line(other) {
            none if none.is_empty() => format!("{node} did not take the text: nothing stands there now"),
            other => format!("{node} did not take the text as it is: “{other}” stands there now"),
        }))
    }

    /// Scrolls the page by most of a screen.
    pub(super) async fn scroll(&mut self, up: bool) -> Result<(), BrowserError> {
        let before = *self.signs.borrow();
        let context = self.world(&self.target).await.map_err(CdpFault::before)?;
        let by = if up { "-0.8" } else { "0.8" };
        let expression = format!("window.scrollBy({{ top: innerHeight * {by}, behavior: 'instant' }})");
        let scrolled = self.call("Runtime.evaluate", json!({ "expression": expression, "contextId": context })).await;
        scrolled.map_err(CdpFault::amid)?;
        self.settle(before).await.map_err(CdpFault::amid)
    }

    /// Finds a node of a reading, and looks at it. Nothing but scrolling to it has happened then.
    async fn aim(&self, hosts: &PageHosts, reading: &str, node: &PageNode) -> Result<Aimed, BrowserError> {
        let known = self.reading.as_ref().filter(|known| known.name == reading && known.nodes.contains(node));
        let place = known.and_then(|known| known.places.get(&node.number)).ok_or_else(changed)?;
        let gone = |fault: CdpFault| match fault {
            // The node, its frame or its document is no more.
            CdpFault::Refused(_) => changed(),
            other => other.before(),
        };
        if !self.shows(&place.frame, &place.loader).await.map_err(CdpFault::before)? {
            return Err(changed());
        }
        let asked = json!({ "backendNodeId": place.backend, "fetchRelatives": false });
        let now = self.call("Accessibility.getPartialAXTree", asked).await.map_err(gone)?;
        let (role, name) = tree::named(&now["nodes"][0]);
        if matches!(&*role, "" | "none") {
            return Err(changed());
        }
        if (&role, &name) != (&node.role, &node.name) {
            return Err(refused(format!("{node} is now {role} “{name}”; propose {READ}")));
        }
        // A node without a box cannot be scrolled to; it is told below.
        let _ = self.call("DOM.scrollIntoViewIfNeeded", json!({ "backendNodeId": place.backend })).await;
        let context = self.world(&place.frame).await.map_err(gone)?;
        let node_in_world = json!({ "backendNodeId": place.backend, "executionContextId": context });
        let resolved = self.call("DOM.resolveNode", node_in_world).await.map_err(gone)?;
        let object = named(&resolved["object"]["objectId"]);
        let seen = self.on(&object, AIM, json!([])).await.map_err(gone)?;
        may_be_touched(&seen, hosts, node)?;
        Ok(Aimed { object, seen })
    }

    /// True if a frame shows the document of this name.
    async fn shows(&self, frame: &str, loader: &str) -> Result<bool, CdpFault> {
        fn find(tree: &Value, frame: &str, loader: &str) -> bool {
            let here = tree["frame"]["id"] == frame && tree["frame"]["loaderId"] == loader;
            here || tree["childFrames"].as_array().into_iter().flatten().any(|child| find(child, frame, loader))
        }
        let tree = self.call("Page.getFrameTree", json!({})).await?;
        Ok(find(&tree["frameTree"], frame, loader))
    }

    /// A world of our own in a frame.
    async fn world(&self, frame: &str) -> Result<Value, CdpFault> {
        let made = self.call("Page.createIsolatedWorld", json!({ "frameId": frame, "worldName": WORLD })).await?;
        Ok(made["executionContextId"].clone())
    }

    /// Calls a function of ours on an object.
    async fn on(&self, object: &str, function: &str, arguments: Value) -> Result<Value, CdpFault> {
        let asked = json!({
            "objectId": object, "functionDeclaration": function, "arguments": arguments, "returnByValue": true,
        });
        let mut answer = self.call("Runtime.callFunctionOn", asked).await?;
        match answer.get("exceptionDetails") {
            Some(thrown) => Err(CdpFault::Refused(named(&thrown["exception"]["description"]))),
            None => Ok(answer["result"]["value"].take()),
        }
    }
}

/// Judges what was seen of a node.
pub(super) fn may_be_touched(seen: &Value, hosts: &PageHosts, node: &PageNode) -> Result<(), BrowserError> {
    if seen["gone"] == true {
        return Err(changed());
    }
    for to in seen["to"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let there = Url::parse(to).map_err(|_| refused(format!("{node} leads to no address that can be read")))?;
        // A script of the page is the page itself: the fence sees where it goes.
        if there.scheme() != "javascript" {
            hosts.check(&there).map_err(|why| refused(format!("{node} leads elsewhere: {why}")))?;
        }
    }
    if seen["elsewhere"] == true {
        return Err(refused(format!("{node} opens a new tab, and a campaign has one; propose {OPEN} with its address")));
    }
    if seen["download"] == true {
        return Err(refused(format!("{node} downloads a file, which a campaign does not")));
    }
    if seen["foreign"] == true {
        return Err(refused(format!("{node} stands in a frame of another site, which can only be read")));
    }
    if seen["hidden"] == true {
        return Err(refused(format!("{node} cannot be seen on the page, so it cannot be touched")));
    }
    if let Some(cover) = seen["covered"].as_str() {
        return Err(refused(format!("{node} is covered by {cover}")));
    }
    Ok(())
}

/// New tabs are held before their first request as long as this is. The keeper closes those of
/// campaigns, and lets any other go on.
struct PopUpsHeld(Arc<Connection>);

impl PopUpsHeld {
    async fn new(connection: &Arc<Connection>) -> Result<Self, CdpFault> {
        let _order = connection.holding.lock().await;
        connection.interacting.fetch_add(1, Ordering::SeqCst);
        let held = Self(Arc::clone(connection));
        auto_attach(connection, true).await?;
        Ok(held)
    }
}

impl Drop for PopUpsHeld {
    /// Also if the interaction was given up in the middle.
    fn drop(&mut self) {
        let connection = Arc::clone(&self.0);
        tokio::spawn(async move {
            let _order = connection.holding.lock().await;
            if connection.interacting.fetch_sub(1, Ordering::SeqCst) == 1
                && let Err(fault) = auto_attach(&connection, false).await
            {
                tracing::debug!(%fault, "new tabs may still be held for a moment");
            }
        });
    }
}

async fn auto_attach(connection: &Connection, on: bool) -> Result<(), CdpFault> {
    let how = json!({ "autoAttach": on, "waitForDebuggerOnStart": on, "flatten": true, "filter": [{ "type": "page" }] });
    connection.call("", "Target.setAutoAttach", how).await?;
    // The person's own downloads go on as they do: this gives a campaign the names by which it ends
    // its own.
    let downloads = json!({ "behavior": "default", "eventsEnabled": on });
    connection.call("", "Browser.setDownloadBehavior", downloads).await.map(drop)
}
