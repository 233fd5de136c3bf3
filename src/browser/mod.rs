//! A person's browser, on this machine, which campaigns drive while the person is there. It is
//! attached to and never started; each campaign has one tab of its own in the background, and no
//! other tab is read, recorded or kept waiting. The client is ours: every command it sends is in
//! these files ([ADR 74](../../docs/adr/0074-a-client-of-our-own-for-the-browser.md)).

mod attach;
mod cdp;
mod error;
mod fence;
mod keeper;
mod tab;
mod touch;
mod tree;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use tokio::sync::Mutex;

use crate::config::BrowserAddress;
use crate::domain::CampaignId;
use crate::domain::campaign::page::{PageHosts, PageReading};
use crate::domain::campaign::visit::PagePlan;
use crate::governor::Permit;

pub use error::BrowserError;

use cdp::Connection;
use error::CdpFault;
use keeper::OwnTabs;
use tab::Tab;

/// The browser. Cheap to clone.
#[derive(Clone)]
pub struct Browser(Arc<Inner>);

struct Inner {
    address: Option<BrowserAddress>,
    attached: Mutex<Option<Attached>>,
    /// True if the last look found it.
    there: AtomicBool,
}

struct Attached {
    connection: Arc<Connection>,
    product: String,
    own: OwnTabs,
    tabs: HashMap<CampaignId, Arc<Mutex<Tab>>>,
}

/// A campaign's way to its tab.
#[derive(Clone, Copy, Debug)]
pub struct TabOf<'a> {
    /// The campaign.
    pub campaign: CampaignId,
    /// The hosts that it may open.
    pub hosts: &'a PageHosts,
    /// The tab that it had, by the browser's name: it is taken up again if it is still there.
    pub known: Option<&'a str>,
}

/// The end of an interaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The address afterwards.
    pub address: String,
    /// True if the page that was there is gone.
    pub left: bool,
    /// The browser's name of the tab.
    pub tab: String,
    /// The text that stands in the field, in a sentence, if it is another than was typed.
    pub otherwise: Option<String>,
    /// Dialogs that were dismissed, and all that the page wanted and was refused, a sentence each.
    pub notes: Vec<String>,
}

impl Browser {
    /// A browser at this address. Nothing is attached before it is needed.
    pub fn new(address: Option<BrowserAddress>) -> Self {
        Self(Arc::new(Inner { address, attached: Mutex::default(), there: AtomicBool::new(false) }))
    }

    /// Attaches, unless that was done, and gives the product with its version.
    ///
    /// # Errors
    /// [`BrowserError::NotThere`] with what to do.
    pub async fn look(&self) -> Result<String, BrowserError> {
        let mut held = self.0.attached.lock().await;
        self.attached(&mut held).await.map(|attached| attached.product.clone())
    }

    /// True if a browser is set and was there when it was last looked for.
    pub fn is_there(&self) -> bool {
        let gone = self.0.attached.try_lock().is_ok_and(|held| held.as_ref().is_some_and(|held| held.connection.is_gone()));
        self.0.there.load(Ordering::Relaxed) && !gone
    }

    async fn attached<'a>(&self, held: &'a mut Option<Attached>) -> Result<&'a mut Attached, BrowserError> {
        if held.as_ref().is_none_or(|held| held.connection.is_gone()) {
            *held = None;
            self.0.there.store(false, Ordering::Relaxed);
            let address = self.0.address.as_ref().ok_or_else(BrowserError::unset)?;
            let (connection, product) = attach::attach(address).await?;
            let own = OwnTabs::default();
            let events = connection.listen("");
            tokio::spawn(keeper::keep_browser(Arc::downgrade(&connection), events, own.clone()));
            tracing::info!(product, "attached to a browser");
            *held = Some(Attached { connection, product, own, tabs: HashMap::new() });
            self.0.there.store(true, Ordering::Relaxed);
        }
        held.as_mut().ok_or_else(BrowserError::unset)
    }

    /// The tab of a campaign. Only `open` makes one; it takes the place of one that was given up,
    /// which a person can look at until then.
    async fn tab(&self, of: TabOf<'_>, make: bool) -> Result<Arc<Mutex<Tab>>, BrowserError> {
        let mut held = self.0.attached.lock().await;
        let attached = self.attached(&mut held).await?;
        let mut given_up = of.known.filter(|known| attached.own.gave_up(known)).map(str::to_owned);
        let known = of.known.filter(|_| given_up.is_none());
        if let Some(tab) = attached.tabs.get(&of.campaign) {
            // One that is in use is there.
            let gone = tab.try_lock().ok().filter(|tab| tab.is_gone()).map(|tab| tab.target.clone());
            let Some(gone) = gone else { return Ok(Arc::clone(tab)) };
            given_up = Some(gone).filter(|gone| attached.own.gave_up(gone)).or(given_up);
            if !make {
                if given_up.is_none() {
                    attached.tabs.remove(&of.campaign);
                }
                return Err(CdpFault::Gone.before());
            }
        } else if !make && known.is_none() {
            return Err(CdpFault::Gone.before());
        }
        let tab = Tab::make(&attached.connection, &attached.own, known, make).await.map_err(CdpFault::before)?;
        if let Some(target) = given_up {
            let connection = Arc::clone(&attached.connection);
            tokio::spawn(async move { connection.call("", "Target.closeTarget", json!({ "targetId": target })).await });
        }
        let tab = Arc::new(Mutex::new(tab));
        attached.tabs.insert(of.campaign, Arc::clone(&tab));
        Ok(tab)
    }

    /// Opens, clicks, types or scrolls, once. The field that was typed into is read back.
    ///
    /// # Errors
    /// [`BrowserError::Unknown`] if it may have happened; any other error says that nothing did.
    pub async fn touch(&self, permit: &Permit, of: TabOf<'_>, plan: &PagePlan) -> Result<Touched, BrowserError> {
        tracing::debug!(call = %permit.call(), campaign = %of.campaign, "a page is touched");
        let tab = self.tab(of, matches!(plan, PagePlan::Open { .. })).await?;
        let mut tab = tab.lock().await;
        tab.shared.allow(of.hosts);
        if matches!(plan, PagePlan::Open { .. }) && tab.loads() {
            tab.end_loading().await.map_err(CdpFault::before)?;
        }
        let before = tab.document().await.map_err(CdpFault::before)?;
        let mut otherwise = None;
        match plan {
            PagePlan::Open { address } => tab.go(address).await?,
            PagePlan::Click { reading, node, .. } => tab.click(of.hosts, reading, node).await?,
            PagePlan::Type { reading, node, text, .. } => otherwise = tab.fill(of.hosts, reading, node, text).await?,
            PagePlan::Scroll { up, .. } => tab.scroll(*up).await?,
            PagePlan::Read | PagePlan::Screenshot { .. } => {
                return Err(BrowserError::Refused("this touches nothing".to_owned()));
            }
        }
        // The address is looked at again: the fence does not see each way out.
        let after = tab.held_to(of.hosts).await.map_err(CdpFault::amid)?;
        let left = after.loader != before.loader || matches!(plan, PagePlan::Open { .. });
        Ok(Touched { address: after.address, left, tab: tab.target.clone(), otherwise, notes: tab.shared.take_notes() })
    }

    /// Reads the page that is open.
    ///
    /// # Errors
    /// [`BrowserError`] if there is none.
    pub async fn read(&self, permit: &Permit, of: TabOf<'_>) -> Result<(PageReading, Vec<String>), BrowserError> {
        tracing::debug!(call = %permit.call(), campaign = %of.campaign, "a page is read");
        let tab = self.tab(of, false).await?;
        let mut tab = tab.lock().await;
        tab.shared.allow(of.hosts);
        let reading = tab.read(of.hosts).await?;
        Ok((reading, tab.shared.take_notes()))
    }

    /// A picture of what is seen of the page, as PNG.
    ///
    /// # Errors
    /// [`BrowserError`] if there is none.
    pub async fn picture(&self, permit: &Permit, of: TabOf<'_>) -> Result<Vec<u8>, BrowserError> {
        tracing::debug!(call = %permit.call(), campaign = %of.campaign, "a page is pictured");
        let tab = self.tab(of, false).await?;
        let mut tab = tab.lock().await;
        tab.shared.allow(of.hosts);
        tab.picture(of.hosts).await
    }
}

#[cfg(test)]
mod tests;
