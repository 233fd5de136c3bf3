//! `take_screenshot`: a picture of the screen, kept, and sent to the person whose task it is and to
//! nobody else.

use std::path::PathBuf;

use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::channels::put_media;
use crate::domain::operator::Subject;
use crate::domain::relay::MediaNote;
use crate::domain::{Effect, Image, ImageType, Outcome, Refusal, RefusalCode, TAKE_SCREENSHOT, ToolSpec};
use crate::store::{Catalogue, NewImage, OperatorWords, StoreError};
use crate::tools::kit::Kit;
use crate::tools::screen::DesktopScreen;
use crate::tools::tool::{Act, CallCard, Doing, Executed, Prepared, Preparing, Tool, ToolError, at_once, read, spec};

const DESCRIPTION: &str = "Takes a picture of the screen and sends it to the person who gave the order.";
/// The delivery of a picture, as far as the call knows it: the outbox sends it later, and the log
/// of the task tells of one that did not arrive.
const ON_ITS_WAY: &str = "on its way to the person; nobody knows yet whether it arrives";
/// The same of a picture for the page.
const SHOWN: &str = "shown in the page, and sent to nobody";
/// The most characters of the words that go with a picture.
const MOST_CAPTION: usize = 500;

/// The arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Caption {
    #[serde(default)]
    #[schemars(with = "Option<String>", description = "A line to go with the picture")]
    caption: Option<String>,
}

/// The tool.
pub(super) struct TakeScreenshot {
    screen: DesktopScreen,
    media: PathBuf,
}

/// A picture that is to be taken.
struct Shot {
    screen: DesktopScreen,
    media: PathBuf,
    caption: String,
}

impl TakeScreenshot {
    pub(super) fn new(screen: DesktopScreen, media: PathBuf) -> Self {
        Self { screen, media }
    }
}

impl Tool for TakeScreenshot {
    fn spec(&self) -> ToolSpec {
        spec::<Caption>(TAKE_SCREENSHOT, DESCRIPTION)
    }

    fn prepare<'a>(&'a self, asked: Preparing<'a>) -> BoxFuture<'a, Result<Prepared, ToolError>> {
        let prepared = || {
            let Caption { caption } = read(asked.arguments)?;
            let caption = caption.unwrap_or_default().chars().take(MOST_CAPTION).collect();
            if let Some(why) = self.screen.missing() {
                return Err(Refusal::new(RefusalCode::Refused, why).into());
            }
            let (screen, media) = (self.screen.clone(), self.media.clone());
            Ok(Prepared::new(Shot { screen, media, caption }, Effect::Read))
        };
        at_once(prepared())
    }

    fn changes(&self, _: &Value) -> bool {
        false
    }

    fn may_send(&self) -> bool {
        true
    }

    fn for_person(&self, _: &Kit, _: &Catalogue) -> Option<String> {
        self.screen.missing().is_none().then(|| "take a screenshot".to_owned())
    }
}

impl Act for Shot {
    fn card<'a>(&'a self, _: &'a Kit) -> BoxFuture<'a, Result<CallCard, StoreError>> {
        at_once(Ok(CallCard::of(vec!["Takes a picture of the screen and sends it to you.".to_owned()])))
    }

    fn execute<'a>(self: Box<Self>, doing: Doing<'a>) -> BoxFuture<'a, Result<Executed, StoreError>> {
        async move {
            let Self { screen, media, caption } = *self;
            let picture = match screen.picture().await {
                Ok(picture) => picture,
                Err(error) => return Ok(Executed::Outcome(Outcome::failed(error.to_string()))),
            };
            let kept = tokio::task::spawn_blocking(move || put_media(&picture, &media).map(|note| (note, picture))).await;
            let broken = |_panicked| Err(std::io::Error::other("the picture could not be written"));
            let (note, picture) = match kept.unwrap_or_else(broken) {
                Ok(kept) => kept,
                Err(error) => return Ok(Executed::Outcome(Outcome::failed(format!("the picture cannot be kept: {error}")))),
            };
            let store = &doing.kit().store;
            let (name, bytes) = (note.sha256.clone().unwrap_or_default(), note.bytes);
            let told = |delivery: &str| {
                Outcome::ok(json!({ "media": format!("media/{name}"), "bytes": bytes, "delivery": delivery }).to_string())
            };
            let source = store.source_of(doing.lease.turn).await?;
            let mut unit = store.begin(doing.now).await?;
            if let Some(image) = attachment(&note, picture) {
                unit.picture_screen(image);
            }
            // An order of the page has nobody on a channel; the page shows the picture.
            let Some(source) = source else { return Ok(Executed::Within(unit, told(SHOWN))) };
            let key = Subject::Picture.key(doing.permit.call().0);
            let words = OperatorWords {
                conversation: doing.lease.conversation,
                channel: &source.channel,
                address: &source.address,
                key: &key,
                text: &caption,
                turn: Some(doing.lease.turn),
                media: Some(note),
            };
            unit.put_out_for_operator(words).await?;
            Ok(Executed::Within(unit, told(ON_ITS_WAY)))
        }
        .boxed()
    }
}

/// A picture that is kept, as an attachment.
fn attachment(note: &MediaNote, bytes: Vec<u8>) -> Option<NewImage> {
    let image = Image { sha256: note.sha256.clone()?, media_type: ImageType::of(&bytes)?, size: bytes.len() as u64 };
    Some(NewImage { image, bytes })
}
