//! Messages out. The library says Ok before WhatsApp's server has answered, also to a message that
//! is refused a moment later; so `sent` is said when the server's acknowledgement has come, and an
//! attempt without one stays without an answer.

use std::sync::Arc;

use wacore::download::MediaType;
use wacore::types::events::{Receipt, ServerAck};
use wacore::types::presence::ReceiptType;
use waproto::whatsapp as wa;
use whatsapp_rust::media::{DocumentOptions, ImageOptions, document_message, image_message};
use whatsapp_rust::prelude::SendError;
use whatsapp_rust::{Client, Jid, SendOptions, UploadOptions};

use crate::inbound::{LARGEST, digest};
use crate::protocol::{Outgoing, OutgoingFile, Report};
use crate::shared::{Ack, Shared};
use crate::{address, markdown, parts};

/// Why a message will not arrive.
struct Refusal {
    code: String,
    reason: String,
    left: Option<bool>,
}

impl Refusal {
    /// It would fail again each time.
    fn for_good(code: &str, reason: impl Into<String>) -> Self {
        Self { code: code.to_owned(), reason: reason.into(), left: None }
    }

    /// Nothing left this machine.
    fn for_now(code: &str, reason: impl Into<String>) -> Self {
        Self { left: Some(false), ..Self::for_good(code, reason) }
    }

    /// WhatsApp's server refused it.
    fn by_server(code: String) -> Self {
        let reason = match code.as_str() {
            "463" => "WhatsApp lets this account write only to people who wrote to it or know it".to_owned(),
            "479" => "WhatsApp refused the message as malformed or from an outdated session".to_owned(),
            _ => format!("WhatsApp refused the message with the code {code}"),
        };
        Self { code, reason, left: Some(true) }
    }

    /// The end of an order of which this part is refused. If a part before it has left, nobody may
    /// say that nothing did: then there is no answer, and whoever orders it again under its id gets
    /// the missing parts sent alone.
    fn behind(self, left: bool) -> Result<bool, Self> {
        if left && self.left == Some(false) {
            log::warn!("a part of a message left, and not the next one ({}): {}", self.code, self.reason);
            return Ok(false);
        }
        Err(self)
    }
}

/// Carries out one order to send, and answers it; without an answer of the server there is none of
/// ours.
pub async fn send(shared: Arc<Shared>, client: Option<Arc<Client>>, order: Outgoing) {
    let id = order.id.clone();
    match attempt(&shared, client, order).await {
        Ok(true) => shared.reports.say(&Report::Sent { id }),
        Ok(false) => log::warn!("WhatsApp did not answer to the message {id}"),
        Err(Refusal { code, reason, left }) => shared.reports.say(&Report::Refused { id, code, reason, left }),
    }
}

/// True if the server has acknowledged all of it, false if nobody knows.
async fn attempt(shared: &Shared, client: Option<Arc<Client>>, order: Outgoing) -> Result<bool, Refusal> {
    if order.id.len() != 32 || !order.id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Refusal::for_good("id", format!("`{}` is no id: expected 32 hex digits", order.id)));
    }
    let to = address::jid(&order.to).map_err(|reason| Refusal::for_good("address", reason))?;
    if shared.journal().was_acknowledged(&wire(&order.id)) {
        return Ok(true);
    }
    let client = client.filter(|client| client.is_logged_in());
    let client = client.ok_or_else(|| Refusal::for_now("offline", "there is no connection with WhatsApp"))?;
    let messages = messages(shared, &client, &order).await?;
    let ids = ids(&order.id, messages.len());
    let mut left = false;
    for (message, id) in messages.into_iter().zip(ids) {
        if !shared.journal().was_acknowledged(&id) {
            let is_part = id != wire(&order.id);
            match one(shared, &client, &to, (id.as_str(), is_part), message).await {
                Ok(Some(Ack::Taken)) => {}
                Ok(Some(Ack::Refused(code))) => return Err(Refusal::by_server(code)),
                Ok(None) => return Ok(false),
                Err(refusal) => return refusal.behind(left),
            }
        }
        left = true;
    }
    Ok(true)
}

/// Sends one message, or a part of one, and waits for the server's answer as long as the
/// connection lasts.
async fn one(
    shared: &Shared,
    client: &Client,
    to: &Jid,
    (id, is_part): (&str, bool),
    message: wa::Message,
) -> Result<Option<Ack>, Refusal> {
    if is_part {
        noted(shared.journal().part(id))?;
    }
    // Noted first: what comes back under this id is ours even if the program dies now.
    noted(shared.journal().tried(id))?;
    let ack = shared.await_ack(id);
    let options = SendOptions::default().with_message_id(id);
    match client.send_message_with_options(to.clone(), message, options).await {
        Ok(_) => Ok(ack.await.ok()),
        Err(error) => Err(failed(&error)),
    }
}

/// Nothing leaves that is not noted.
fn noted(written: std::io::Result<()>) -> Result<(), Refusal> {
    written.map_err(|error| Refusal::for_now("journal", format!("the journal cannot be written: {error}")))
}

/// The library did not send it, or does not know whether it did.
fn failed(error: &SendError) -> Refusal {
    use whatsapp_rust::prelude::ClientError;
    let reason = format!("the message could not be sent: {error}");
    match error {
        SendError::NotLoggedIn
        | SendError::Iq(_)
        | SendError::Client(ClientError::NotConnected | ClientError::NotLoggedIn | ClientError::Iq(_)) => {
            Refusal::for_now("offline", reason)
        }
        SendError::InvalidRequest(_) => Refusal::for_good("invalid", reason),
        // A socket that broke while it was written to: it may have left.
        _ => Refusal { code: "failed".to_owned(), reason, left: Some(true) },
    }
}

/// The order in WhatsApp's messages: the file with the text as its caption, or the file and then
/// the text in parts.
async fn messages(shared: &Shared, client: &Client, order: &Outgoing) -> Result<Vec<wa::Message>, Refusal> {
    let mut texts = parts::parts(&markdown::whatsapp(&order.text));
    let mut messages = Vec::new();
    if let Some(file) = &order.media {
        let caption = if texts.len() == 1 { texts.pop() } else { None };
        messages.push(upload(shared, client, file, caption).await?);
    }
    messages.extend(texts.into_iter().map(|text| wa::Message { conversation: Some(text), ..Default::default() }));
    if messages.is_empty() {
        return Err(Refusal::for_good("empty", "the message has neither text nor a file"));
    }
    Ok(messages)
}

/// Uploads a file, and gives back the message that shows it.
async fn upload(shared: &Shared, client: &Client, file: &OutgoingFile, caption: Option<String>) -> Result<wa::Message, Refusal> {
    let bytes = shared.folder.outgoing(&file.path, LARGEST).map_err(|reason| Refusal::for_good("file", reason))?;
    let picture = file.media_type.starts_with("image/");
    let kind = if picture { MediaType::Image } else { MediaType::Document };
    let uploaded = client.upload(bytes, kind, UploadOptions::default()).await;
    let uploaded = uploaded.map_err(|error| Refusal::for_now("upload", format!("the file could not be uploaded: {error:#}")))?;
    let mimetype = Some(file.media_type.clone());
    Ok(if picture {
        image_message(uploaded, ImageOptions { caption, mimetype, ..Default::default() })
    } else {
        let name = file.name.clone().or_else(|| file.path.rsplit('/').next().map(str::to_owned));
        document_message(uploaded, DocumentOptions { caption, mimetype, file_name: name, ..Default::default() })
    })
}

/// level3's id as WhatsApp writes ids, in upper case. level3 writes its own so, too: what the
/// program says later about a message has this form.
fn wire(id: &str) -> String {
    id.to_uppercase()
}

/// The ids of an order's messages: the last has the order's own, so that its receipts are about the
/// whole; those before it are derived from it, so that an order that is tried again is shown once.
fn ids(id: &str, count: usize) -> Vec<String> {
    (1..=count).map(|n| if n == count { wire(id) } else { wire(&digest(&format!("{id} {n}"))[..32]) }).collect()
}

/// The server answered to something of ours. If nobody waits any more, level3 still hears of it.
pub fn acknowledged(shared: &Shared, ack: &ServerAck) {
    if ack.class.as_deref().is_some_and(|class| class != "message") || !shared.journal().was_tried(&ack.id) {
        return;
    }
    let answer = ack.error.clone().map_or(Ack::Taken, Ack::Refused);
    if answer == Ack::Taken
        && let Err(error) = shared.journal().acknowledged(&ack.id)
    {
        log::error!("the journal cannot be written: {error}");
    }
    let id = ack.id.clone();
    let unheard = shared.acknowledge(&ack.id, answer).filter(|_| shared.journal().is_ours(&ack.id));
    match unheard {
        Some(Ack::Taken) => shared.reports.say(&Report::Sent { id }),
        Some(Ack::Refused(code)) => {
            let Refusal { code, reason, left } = Refusal::by_server(code);
            shared.reports.say(&Report::Refused { id, code, reason, left });
        }
        None => {}
    }
}

/// A contact's device got, or showed, messages of ours.
pub fn receipt(shared: &Shared, receipt: &Receipt) {
    let state = match receipt.r#type {
        ReceiptType::Delivered => "delivered",
        ReceiptType::Read | ReceiptType::Played => "read",
        _ => return,
    };
    for id in receipt.message_ids.iter().filter(|id| shared.journal().is_ours(id)) {
        shared.reports.say(&Report::Receipt { id: id.clone(), state });
    }
}

#[cfg(test)]
mod tests;
