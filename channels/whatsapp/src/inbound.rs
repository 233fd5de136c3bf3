//! Messages in. The library calls the hook before it acknowledges anything to WhatsApp, and
//! acknowledges when the hook says yes; the hook says yes when level3 has accepted. A program that
//! dies in between gets the message again.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;
use wacore::types::message::MessageInfo;
use whatsapp_rust::types::events::InboundMessage;
use whatsapp_rust::wacore_binary::JidExt;
use whatsapp_rust::{Client, InboundDurabilityHook};

use crate::address;
use crate::protocol::{Incoming, IncomingFile, Report};
use crate::shared::{Shared, written};
use crate::words::{self, File, Said};

/// The largest file that is downloaded.
pub const LARGEST: u64 = 16 << 20;

/// How long a download may take. The library waits for this hook before it reads on, so a file that
/// does not come must not hold up the rest.
const DOWNLOAD: Duration = Duration::from_secs(60);

/// The hook.
pub struct Inbound(pub Arc<Shared>);

#[async_trait]
impl InboundDurabilityHook for Inbound {
    async fn on_messages(&self, client: Arc<Client>, batch: &[InboundMessage]) -> anyhow::Result<()> {
        // All are passed on before the first is waited for: level3 takes them in one go.
        let mut waiting = Vec::new();
        for message in batch {
            waiting.extend(self.pass_on(&client, message).await);
        }
        for accepted in waiting {
            accepted.await?;
        }
        Ok(())
    }
}

impl Inbound {
    /// Tells level3 of a message, and gives back what to wait for; nothing if there is nothing to
    /// tell.
    async fn pass_on(&self, client: &Client, inbound: &InboundMessage) -> Option<oneshot::Receiver<()>> {
        let shared = &self.0;
        let info = &inbound.info;
        let said = words::read(&inbound.message)?;
        // Our own words come back from the account's other devices.
        if info.source.is_from_me && shared.journal().was_tried(&info.id) {
            return None;
        }
        let Some((from, to)) = parties(client, info).await else {
            log::warn!("a message was left out: WhatsApp shows no number for its writer");
            return None;
        };
        if shared.journal().was_accepted(&from, &info.id) {
            return None;
        }
        let (accepted, first) = shared.await_accepted((from.clone(), info.id.clone()));
        if first {
            let media = match &said.file {
                Some(file) => Some(self.fetch(client, file, &from, &info.id).await),
                None => None,
            };
            shared.reports.say(&Report::Message(incoming(said, info, from, to, media)));
        }
        Some(accepted)
    }

    /// Downloads a file into the media folder. If it is too large, or does not come, the message
    /// goes on without it and says so.
    async fn fetch(&self, client: &Client, file: &File<'_>, from: &str, id: &str) -> IncomingFile {
        let omitted = || IncomingFile::Omitted { omitted: true, bytes: file.bytes, media_type: file.media_type.clone() };
        if file.bytes > LARGEST {
            return omitted();
        }
        let bytes = match tokio::time::timeout(DOWNLOAD, client.download(file.place)).await {
            Ok(Ok(bytes)) if bytes.len() as u64 <= LARGEST => bytes,
            Ok(Ok(_)) => return omitted(),
            Ok(Err(error)) => {
                log::warn!("a file did not come: {error:#}");
                return omitted();
            }
            Err(_) => {
                log::warn!("a file did not come within {} s", DOWNLOAD.as_secs());
                return omitted();
            }
        };
        match self.0.folder.keep(&format!("{}.bin", &digest(&format!("{from} {id}"))[..32]), &bytes) {
            Ok(path) => IncomingFile::Kept { path, bytes: bytes.len() as u64, media_type: file.media_type.clone() },
            Err(error) => {
                log::error!("a file cannot be kept: {error}");
                omitted()
            }
        }
    }
}

/// The sha256 of a text in hex digits.
pub fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The writer's number, and the other side's if we are the writer.
async fn parties(client: &Client, info: &MessageInfo) -> Option<(String, Option<String>)> {
    let source = &info.source;
    if !source.is_from_me {
        return Some((address::resolve(client, &source.sender, source.sender_alt.as_ref()).await?, None));
    }
    let ours = client.pn().as_ref().and_then(address::number)?;
    // The chat with ourselves may go by our hidden name, which is learned when a device is linked.
    let to = address::resolve(client, &source.chat, source.recipient_alt.as_ref()).await;
    Some((ours, to))
}

fn incoming(said: Said<'_>, info: &MessageInfo, from: String, to: Option<String>, media: Option<IncomingFile>) -> Incoming {
    let chat = &info.source.chat;
    let chat = if chat.is_status_broadcast() {
        "status"
    } else if chat.is_broadcast_list() {
        "broadcast"
    } else if info.source.is_group || chat.is_group() {
        "group"
    } else {
        "direct"
    };
    let (note, of) = said.note.map_or((None, None), |(note, of)| (Some(note), Some(of)));
    let (quotes, quoted) = said.quotes.map_or((None, None), |(id, text)| (Some(id), text));
    Incoming {
        id: info.id.clone(),
        from,
        at: written(info.timestamp),
        chat,
        own: info.source.is_from_me,
        to,
        text: said.text,
        name: Some(info.push_name.clone()).filter(|name| !name.is_empty()),
        quotes,
        quoted,
        note,
        of,
        media,
    }
}
