//! Reads an incoming message, whatever WhatsApp wrapped it in: text, caption, file, what it
//! answers, an edit, a deletion.

use wacore::download::Downloadable;
use wacore::proto_helpers::MessageExt;
use waproto::whatsapp as wa;
use waproto::whatsapp::message::protocol_message::Type;

/// The most characters of a message that another one answers.
const QUOTED: usize = 500;

/// A message as a person understands it.
#[derive(Default)]
pub struct Said<'a> {
    /// Its text or caption.
    pub text: Option<String>,
    /// Its file.
    pub file: Option<File<'a>>,
    /// The id of the message that it answers, and the beginning of that message.
    pub quotes: Option<(String, Option<String>)>,
    /// If it is a note about another message: `edited` or `deleted`, and that message's id.
    pub note: Option<(&'static str, String)>,
}

/// A file in a message, still at WhatsApp's servers.
pub struct File<'a> {
    /// The place of the file, and the key to it.
    pub place: &'a dyn Downloadable,
    /// The media type that its sender claims.
    pub media_type: String,
    /// The size that its sender claims.
    pub bytes: u64,
}

/// Reads the message, or nothing if it says nothing to a person: keys, receipts, reactions,
/// settings.
pub fn read(message: &wa::Message) -> Option<Said<'_>> {
    let base = message.get_base_message();
    if let Some(protocol) = base.protocol_message.as_option() {
        return note(protocol);
    }
    let file = file(base);
    let text = base.text_content().or_else(|| base.get_caption()).filter(|text| !text.is_empty()).map(str::to_owned);
    let text = text.or_else(|| place(base));
    if text.is_none() && file.is_none() {
        return None;
    }
    Some(Said { text, file, quotes: quotes(base), note: None })
}

/// An edit or a deletion. The text is such that nobody takes it for a message of its own, word by
/// word.
fn note(protocol: &wa::message::ProtocolMessage) -> Option<Said<'static>> {
    let of = protocol.key.as_option()?.id.clone()?;
    match protocol.r#type {
        Some(Type::REVOKE) => {
            Some(Said { text: Some("Deleted a message.".into()), note: Some(("deleted", of)), ..Said::default() })
        }
        Some(Type::MESSAGE_EDIT) => {
            let new = protocol.edited_message.as_option()?.get_base_message();
            let new = new.text_content().or_else(|| new.get_caption()).unwrap_or_default();
            Some(Said {
                text: Some(format!("Edited a message, which now reads: {new}")),
                note: Some(("edited", of)),
                ..Said::default()
            })
        }
        _ => None,
    }
}

fn file(base: &wa::Message) -> Option<File<'_>> {
    fn made<'a>(place: &'a dyn Downloadable, media_type: Option<&String>, otherwise: &str) -> File<'a> {
        let media_type = media_type.map_or(otherwise, String::as_str).to_owned();
        File { place, media_type, bytes: place.file_length().unwrap_or_default() }
    }
    if let Some(file) = base.image_message.as_option() {
        return Some(made(file, file.mimetype.as_ref(), "image/jpeg"));
    }
    if let Some(file) = base.audio_message.as_option() {
        return Some(made(file, file.mimetype.as_ref(), "audio/ogg"));
    }
    if let Some(file) = base.video_message.as_option() {
        return Some(made(file, file.mimetype.as_ref(), "video/mp4"));
    }
    if let Some(file) = base.document_message.as_option() {
        return Some(made(file, file.mimetype.as_ref(), "application/octet-stream"));
    }
    base.sticker_message.as_option().map(|file| made(file, file.mimetype.as_ref(), "image/webp"))
}

/// A place on the map as text.
fn place(base: &wa::Message) -> Option<String> {
    let place = base.location_message.as_option()?;
    let name = place.name.as_deref().or(place.address.as_deref()).map(|name| format!(" ({name})")).unwrap_or_default();
    Some(format!("Location: {:.6}, {:.6}{name}", place.degrees_latitude?, place.degrees_longitude?))
}

fn quotes(base: &wa::Message) -> Option<(String, Option<String>)> {
    let context = base
        .extended_text_message
        .as_option()
        .and_then(|message| message.context_info.as_option())
        .or_else(|| base.image_message.as_option()?.context_info.as_option())
        .or_else(|| base.video_message.as_option()?.context_info.as_option())
        .or_else(|| base.audio_message.as_option()?.context_info.as_option())
        .or_else(|| base.document_message.as_option()?.context_info.as_option())?;
    let quoted = context.quoted_message.as_option().map(MessageExt::get_base_message);
    let text = quoted.and_then(|quoted| quoted.text_content().or_else(|| quoted.get_caption()));
    Some((context.stanza_id.clone()?, text.map(|text| text.chars().take(QUOTED).collect())))
}

#[cfg(test)]
mod tests;
