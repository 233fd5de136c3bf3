//! Pages: what events say of them, which is all that a state knows, and the events themselves.
//! There is no table of pages.

use std::collections::BTreeSet;

use serde_json::Value;

use super::CampaignError;
use super::writing::NewArtifact;
use crate::domain::campaign::Campaign;
use crate::domain::campaign::page::{PageReading, PageShows, Pages};
use crate::domain::campaign::state::named_pages;
use crate::domain::shortened;
use crate::facts::{Event, EventRecord, PageRead, PageTouched};
use crate::store::{Lease, NewImage, StoreError, Unit};

/// The most bytes of a page's text that the outcome of a call tells; the next request shows all of
/// it.
const MOST_TOLD: usize = 300;

/// The newest reading and touch of a campaign's events, and the newest reading for each that its
/// tasks require.
pub(super) fn pages_of(records: &[EventRecord], tasks: &[Value]) -> Pages {
    let mut pages = Pages::default();
    let wanted: BTreeSet<_> = named_pages(tasks);
    for record in records {
        match &record.event {
            Event::PageTouched(touched) => pages.touch = Some((record.sequence, touched.touch.clone())),
            Event::PageRead(read) => pages.reading = Some((record.sequence, read.page.clone())),
            _ => {}
        }
    }
    for (host, contains) in wanted {
        let newest = records.iter().rev().find(|record| match &record.event {
            Event::PageRead(PageRead { page, .. }) => page.host == host && page.text.contains(&contains),
            _ => false,
        });
        pages.shows.extend(newest.map(|record| PageShows { host, contains, sequence: record.sequence, at: record.at }));
    }
    pages
}

impl Unit {
    /// Records a reading, and gives the words for the model.
    pub(super) async fn record_reading(&mut self, lease: &Lease, read: &PageRead) -> Result<String, StoreError> {
        let page = self.clean_page(&read.page);
        let told = format!(
            "The page {} was read: {} bytes, {} nodes. It begins: {}",
            page.address,
            page.text.len(),
            page.nodes.len(),
            shortened(&page.text, MOST_TOLD)
        );
        self.record(lease.conversation, &[PageRead { page, ..read.clone() }.into()]).await?;
        Ok(told)
    }

    fn clean_page(&self, page: &PageReading) -> PageReading {
        let mut page = page.clone();
        for text in [&mut page.address, &mut page.title, &mut page.text] {
            *text = self.clean(text).into_owned();
        }
        for node in &mut page.nodes {
            node.name = self.clean(&node.name).into_owned();
        }
        page
    }

    /// Records a touch, and gives the words for the model.
    pub(super) async fn record_touch(&mut self, lease: &Lease, touched: &PageTouched) -> Result<String, StoreError> {
        let mut touch = touched.touch.clone();
        touch.told = self.clean(&touch.told).into_owned();
        touch.address = self.clean(&touch.address).into_owned();
        touch.now_at = touch.now_at.map(|address| self.clean(&address).into_owned());
        let told = touch.told.clone();
        self.record(lease.conversation, &[PageTouched { touch, ..touched.clone() }.into()]).await?;
        Ok(told)
    }

    /// Keeps a picture with its bytes.
    pub(super) async fn keep_picture(
        &mut self,
        campaign: &Campaign,
        new: NewArtifact<'_>,
        image: &NewImage,
    ) -> Result<String, CampaignError> {
        self.keep_images(std::slice::from_ref(image)).await?;
        let key = new.key;
        let kept = self.keep_with(campaign, new, Some(image.image.clone())).await?;
        Ok(format!("The picture {key} is kept as version {} ({}).", kept.version, image.image.words()))
    }
}
