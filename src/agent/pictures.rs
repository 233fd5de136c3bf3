//! The images of a conversation as a model is shown them. A model that can see gets the newest few
//! themselves; a line of text stands for each of the others. An image costs a model as much as
//! pages of text, each time it is sent.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::domain::{Exchange, HistoryEntry, Image};
use crate::memory;
use crate::model::{Entry, Picture};
use crate::store::{Store, StoreError};

/// Images of older turns are not sent again.
const TURNS: usize = 3;
/// The most images of one request, the newest ones.
const MOST: usize = 8;

/// The images of one request that are sent themselves, by their sha256.
#[derive(Debug, Default)]
pub(super) struct Pictures {
    sees: bool,
    urls: HashMap<String, Arc<str>>,
}

/// Reads the images that are to be sent.
///
/// # Errors
/// If the database does not answer.
pub(super) async fn load(store: &Store, history: &[Exchange], sees: bool) -> Result<Pictures, StoreError> {
    let wanted = if sees { newest(history) } else { Vec::new() };
    let names: Vec<_> = wanted.iter().map(|image| image.sha256.clone()).collect();
    let bytes = store.attachments(&names).await?;
    let url = |image: &Image| {
        let bytes = bytes.get(&image.sha256)?;
        let url = format!("data:{};base64,{}", image.media_type, STANDARD.encode(bytes));
        Some((image.sha256.clone(), url.into()))
    };
    Ok(Pictures { sees, urls: wanted.into_iter().filter_map(url).collect() })
}

/// The newest images of the newest turns.
fn newest(history: &[Exchange]) -> Vec<&Image> {
    let entries = history.iter().rev().take(TURNS).flat_map(|exchange| exchange.entries.iter().rev());
    let images = entries.filter_map(|entry| if let HistoryEntry::Images(images) = entry { Some(images) } else { None });
    images.flat_map(|images| images.iter().rev()).take(MOST).collect()
}

impl Drop for Pictures {
    fn drop(&mut self) {
        if !self.urls.is_empty() {
            self.urls.clear();
            memory::give_back();
        }
    }
}

impl Pictures {
    /// A person's words, with the images that came with them.
    pub(super) fn beside(&self, said: Entry, images: &[Image]) -> Entry {
        let Entry::User(mut content) = said else { return said };
        let mut shown = Vec::new();
        for (number, image) in (1..).zip(images) {
            if let Some(url) = self.urls.get(&image.sha256) {
                shown.push(Picture { image: image.clone(), url: Arc::clone(url) });
                continue;
            }
            let why = if self.sees { "not sent again, it came some time ago" } else { "this model cannot see images" };
            if !content.is_empty() {
                content.push('\n');
            }
            content.push_str(&format!("[image {number}, {}: {why}]", image.words()));
        }
        if shown.is_empty() { Entry::User(content) } else { Entry::UserWithImages { content, images: shown } }
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::domain::{ImageType, TurnId, TurnState};

    fn image(name: &str) -> Image {
        Image { sha256: name.into(), media_type: ImageType::Png, size: 34 * 1024 - 5 }
    }

    fn exchange(turn: i64, names: &[&str]) -> Exchange {
        let said = HistoryEntry::User("look".into(), DateTime::UNIX_EPOCH);
        let images = HistoryEntry::Images(names.iter().map(|name| image(name)).collect());
        let (turn, state) = (TurnId(turn), TurnState::Completed);
        Exchange { turn, state, reason: None, entries: vec![said, images], waits: false, unproven: Vec::new() }
    }

    #[test]
    fn only_the_newest_images_of_the_newest_turns_are_sent() {
        let names = |history: &[Exchange]| newest(history).iter().map(|image| image.sha256.clone()).collect::<Vec<_>>();
        let history = [exchange(1, &["a"]), exchange(2, &["b"]), exchange(3, &[]), exchange(4, &["c", "d"])];
        assert_eq!(names(&history), ["d", "c", "b"]);
        let many = [exchange(1, &["1", "2", "3", "4"]), exchange(2, &["5", "6", "7", "8"]), exchange(3, &["9"])];
        assert_eq!(names(&many), ["9", "8", "7", "6", "5", "4", "3", "2"]);
    }

    #[test]
    fn what_is_not_sent_is_told() {
        let said = || Entry::User("look".into());
        let blind = Pictures::default().beside(said(), &[image("a")]);
        assert_eq!(blind, Entry::User("look\n[image 1, image/png, 34 KB: this model cannot see images]".into()));
        let seeing = Pictures { sees: true, urls: [("b".to_owned(), Arc::from("data:x"))].into() };
        let Entry::UserWithImages { content, images } = seeing.beside(said(), &[image("a"), image("b")]) else { panic!() };
        assert_eq!(content, "look\n[image 1, image/png, 34 KB: not sent again, it came some time ago]");
        assert_eq!((images.len(), &*images[0].url), (1, "data:x"));
    }
}
