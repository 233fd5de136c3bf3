//! Tests of `words`.

use whatsapp_rust::buffa::MessageField;

use super::*;

fn text(said: &str) -> wa::Message {
    wa::Message { conversation: Some(said.into()), ..Default::default() }
}

fn picture(caption: Option<&str>) -> wa::Message {
    let image = wa::message::ImageMessage {
        caption: caption.map(str::to_owned),
        mimetype: Some("image/png".into()),
        file_length: Some(77),
        ..Default::default()
    };
    wa::Message { image_message: MessageField::some(image), ..Default::default() }
}

fn about(id: &str, kind: Type, edited: Option<wa::Message>) -> wa::Message {
    let protocol = wa::message::ProtocolMessage {
        key: MessageField::some(wa::MessageKey { id: Some(id.into()), ..Default::default() }),
        r#type: Some(kind),
        edited_message: edited.map(MessageField::some).unwrap_or_default(),
        ..Default::default()
    };
    wa::Message { protocol_message: MessageField::some(protocol), ..Default::default() }
}

#[test]
fn text_is_read_bare_and_wrapped() {
    assert_eq!(read(&text("hi")).unwrap().text.as_deref(), Some("hi"));
    let inner = wa::message::FutureProofMessage { message: MessageField::some(text("gone soon")) };
    let wrapped = wa::Message { ephemeral_message: MessageField::some(inner), ..Default::default() };
    assert_eq!(read(&wrapped).unwrap().text.as_deref(), Some("gone soon"));
}

#[test]
fn a_picture_has_a_file_and_perhaps_a_caption() {
    let message = picture(Some("look"));
    let said = read(&message).unwrap();
    let file = said.file.unwrap();
    assert_eq!((said.text.as_deref(), file.media_type.as_str(), file.bytes), (Some("look"), "image/png", 77));
    assert_eq!(read(&picture(None)).unwrap().text, None);
}

#[test]
fn sound_a_film_and_a_document_are_files_too() {
    let sound = wa::message::AudioMessage { file_length: Some(5), ..Default::default() };
    let film = wa::message::VideoMessage { file_length: Some(5), caption: Some("look".into()), ..Default::default() };
    let document = wa::message::DocumentMessage { file_length: Some(5), caption: Some("read".into()), ..Default::default() };
    let document = wa::Message { document_message: MessageField::some(document), ..Default::default() };
    // WhatsApp wraps a document that has a caption.
    let wrapped = wa::message::FutureProofMessage { message: MessageField::some(document) };
    for (message, text, media_type) in [
        (wa::Message { audio_message: MessageField::some(sound), ..Default::default() }, None, "audio/ogg"),
        (wa::Message { video_message: MessageField::some(film), ..Default::default() }, Some("look"), "video/mp4"),
        (
            wa::Message { document_with_caption_message: MessageField::some(wrapped), ..Default::default() },
            Some("read"),
            "application/octet-stream",
        ),
    ] {
        let said = read(&message).unwrap();
        let file = said.file.unwrap();
        assert_eq!((said.text.as_deref(), file.media_type.as_str(), file.bytes), (text, media_type, 5));
    }
}

#[test]
fn a_reply_carries_what_it_answers() {
    let context = wa::ContextInfo {
        stanza_id: Some("OLD".into()),
        quoted_message: MessageField::some(text(&"q".repeat(900))),
        ..Default::default()
    };
    let reply = wa::message::ExtendedTextMessage {
        text: Some("yes".into()),
        context_info: MessageField::some(context),
        ..Default::default()
    };
    let message = wa::Message { extended_text_message: MessageField::some(reply), ..Default::default() };
    let said = read(&message).unwrap();
    assert_eq!(said.text.as_deref(), Some("yes"));
    assert_eq!(said.quotes, Some(("OLD".into(), Some("q".repeat(500)))));
}

#[test]
fn an_edit_and_a_deletion_are_notes_that_repeat_no_order_word_by_word() {
    let edit = about("OLD", Type::MESSAGE_EDIT, Some(text("CONFIRMAR")));
    let said = read(&edit).unwrap();
    assert_eq!(said.note, Some(("edited", "OLD".into())));
    assert_eq!(said.text.as_deref(), Some("Edited a message, which now reads: CONFIRMAR"));
    let deletion = about("OLD", Type::REVOKE, None);
    assert_eq!(read(&deletion).unwrap().note, Some(("deleted", "OLD".into())));
}

#[test]
fn a_place_is_text() {
    let place = wa::message::LocationMessage {
        degrees_latitude: Some(52.5),
        degrees_longitude: Some(13.25),
        name: Some("Zoo".into()),
        ..Default::default()
    };
    let message = wa::Message { location_message: MessageField::some(place), ..Default::default() };
    assert_eq!(read(&message).unwrap().text.as_deref(), Some("Location: 52.500000, 13.250000 (Zoo)"));
}

#[test]
fn what_says_nothing_to_a_person_is_nothing() {
    assert!(read(&wa::Message::default()).is_none());
    assert!(read(&about("OLD", Type::EPHEMERAL_SETTING, None)).is_none());
    let reaction = wa::message::ReactionMessage { text: Some("👍".into()), ..Default::default() };
    assert!(read(&wa::Message { reaction_message: MessageField::some(reaction), ..Default::default() }).is_none());
}
