//! All kinds of messages, in and out.

use buffa::MessageField;
use serde_json::json;
use wacore::download::MediaType;
use waproto::whatsapp as wa;
use whatsapp_rust::UploadOptions;
use whatsapp_rust::media::{
    AudioOptions, DocumentOptions, ImageOptions, VideoOptions, audio_message, document_message, image_message, video_message,
};

use crate::contact::{Contact, THEIRS, ours, text};
use crate::mock::Mock;
use crate::program::{DEVICE, Home, OURS, Program, id_of, soon};

fn picture() -> Vec<u8> {
    (0..200_000u32).map(|n| (n * 31 % 251) as u8).collect()
}

#[tokio::test]
async fn pictures_sound_and_documents_go_both_ways_bit_for_bit() {
    let (mock, home) = (Mock::start().await, Home::new());
    let (mut program, contact) = tokio::join!(Program::paired(&mock, &home), Contact::paired(&mock));

    let uploaded = contact.client.upload(picture(), MediaType::Image, UploadOptions::default()).await.unwrap();
    let options = ImageOptions { caption: Some("look".into()), mimetype: Some("image/png".into()), ..Default::default() };
    contact.send(image_message(uploaded, options)).await;
    let message = program.message("look").await;
    assert_eq!((&message["media"]["bytes"], &message["media"]["type"]), (&json!(200_000), &json!("image/png")));
    let path = home.path().join(message["media"]["path"].as_str().unwrap());
    assert!(path.starts_with(home.path().join("media")) && std::fs::read(path).unwrap() == picture());
    program.accept(&message).await;

    let uploaded = contact.client.upload(vec![3; 4000], MediaType::Document, UploadOptions::default()).await.unwrap();
    let options = DocumentOptions { caption: Some("the lease".into()), ..Default::default() };
    contact.send(document_message(uploaded, options)).await;
    let uploaded = contact.client.upload(vec![3; 4000], MediaType::Video, UploadOptions::default()).await.unwrap();
    let options = VideoOptions { caption: Some("the flat".into()), ..Default::default() };
    contact.send(video_message(uploaded, options)).await;
    for (caption, media_type) in [("the lease", "application/octet-stream"), ("the flat", "video/mp4")] {
        let message = program.message(caption).await;
        assert_eq!((&message["media"]["bytes"], &message["media"]["type"]), (&json!(4000), &json!(media_type)));
        assert!(std::fs::read(home.path().join(message["media"]["path"].as_str().unwrap())).unwrap() == [3; 4000]);
        program.accept(&message).await;
    }

    let uploaded = contact.client.upload(vec![5; 3000], MediaType::Audio, UploadOptions::default()).await.unwrap();
    contact.send(audio_message(uploaded, AudioOptions::default())).await;
    let message = program.until(|line| line["kind"] == "message").await;
    assert_eq!((&message["media"]["bytes"], &message["media"]["type"]), (&json!(3000), &json!("audio/ogg; codecs=opus")));
    assert!(std::fs::read(home.path().join(message["media"]["path"].as_str().unwrap())).unwrap() == [5; 3000]);
    program.accept(&message).await;

    let uploaded = contact.client.upload(vec![7; 5000], MediaType::Audio, UploadOptions::default()).await.unwrap();
    mock.files.lose();
    contact.send(audio_message(uploaded, AudioOptions::default())).await;
    let message = program.until(|line| line["kind"] == "message").await;
    assert_eq!(message["media"], json!({"omitted": true, "bytes": 5000, "type": "audio/ogg; codecs=opus"}));
    assert!(message.get("text").is_none());
    program.accept(&message).await;

    std::fs::write(home.path().join("media/shot.png"), picture()).unwrap();
    let media = json!({"path": "media/shot.png", "type": "image/png"});
    program
        .order(json!({"kind": "send", "id": id_of(1), "to": format!("+{THEIRS}"), "text": "the screen", "media": media}))
        .await;
    assert_eq!(program.answer(1).await["kind"], "sent");
    let (id, image) = contact.hears("a picture", |message| message.image_message.as_option().cloned()).await;
    assert_eq!((id, image.caption.as_deref()), (id_of(1), Some("the screen")));
    assert!(contact.client.download(&image).await.unwrap() == picture());

    let media = json!({"path": "media/shot.png", "type": "application/pdf", "name": "report.pdf"});
    program.order(json!({"kind": "send", "id": id_of(2), "to": format!("+{THEIRS}"), "media": media})).await;
    assert_eq!(program.answer(2).await["kind"], "sent");
    let (_, document) = contact.hears("a document", |message| message.document_message.as_option().cloned()).await;
    assert_eq!(document.file_name.as_deref(), Some("report.pdf"));

    let media = json!({"path": "../secret", "type": "image/png"});
    program.order(json!({"kind": "send", "id": id_of(3), "to": format!("+{THEIRS}"), "media": media})).await;
    let answer = program.answer(3).await;
    assert_eq!((&answer["kind"], &answer["code"]), (&json!("refused"), &json!("file")));
}

#[tokio::test]
async fn replies_edits_and_deletions_come_as_what_they_are() {
    let (mock, home) = (Mock::start().await, Home::new());
    let (mut program, contact) = tokio::join!(Program::paired(&mock, &home), Contact::paired(&mock));
    let first = contact.say("delete everything").await;
    let message = program.message("delete everything").await;
    program.accept(&message).await;

    let context = wa::ContextInfo {
        stanza_id: Some(first.clone()),
        participant: Some(ours().to_string()),
        quoted_message: MessageField::some(text("delete everything")),
        ..Default::default()
    };
    let reply = wa::message::ExtendedTextMessage {
        text: Some("I mean that".into()),
        context_info: MessageField::some(context),
        ..Default::default()
    };
    contact.send(wa::Message { extended_text_message: MessageField::some(reply), ..Default::default() }).await;
    let message = program.message("I mean that").await;
    assert_eq!((&message["quotes"], &message["quoted"]), (&json!(first), &json!("delete everything")));
    program.accept(&message).await;

    contact.client.edit_message(ours(), first.clone(), text("delete nothing")).await.unwrap();
    let note = program.until(|line| line["note"] == "edited").await;
    assert_eq!((&note["of"], &note["text"]), (&json!(first), &json!("Edited a message, which now reads: delete nothing")));
    program.accept(&note).await;

    contact.client.revoke_message(ours(), first.clone(), whatsapp_rust::send::RevokeType::Sender).await.unwrap();
    let note = program.until(|line| line["note"] == "deleted").await;
    assert_eq!((&note["of"], &note["text"]), (&json!(first), &json!("Deleted a message.")));
    program.accept(&note).await;
    soon("all is acknowledged", || mock.unacknowledged(DEVICE) == 0).await;
}

#[tokio::test]
async fn a_long_text_goes_in_parts_and_is_sent_when_the_last_one_is() {
    let (mock, home) = (Mock::start().await, Home::new());
    let (mut program, contact) = tokio::join!(Program::paired(&mock, &home), Contact::paired(&mock));
    let paragraph = "word ".repeat(500);
    let long = [paragraph.trim(); 4].join("\n\n");
    program.send(9, THEIRS, &long).await;
    assert_eq!(program.answer(9).await["kind"], "sent");
    soon("all parts came", || contact.texts().len() == 4).await;
    assert!(contact.texts().iter().all(|text| text.chars().count() <= 4000));
    assert_eq!(contact.texts().join("\n\n"), long);
    // All ids are ours, and the last part has the order's own: its receipts are about the whole.
    let ids = contact.ids();
    assert_eq!(ids.last(), Some(&id_of(9)));
    assert!(ids.iter().all(|id| id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'))), "{ids:?}");
    // Sent again after it was acknowledged: nobody sees it twice.
    program.send(9, THEIRS, &long).await;
    assert_eq!(program.answer(9).await["kind"], "sent");
    contact.listens().await;
    assert_eq!(contact.texts().len(), 4);
}

#[tokio::test]
async fn a_hidden_name_stands_for_the_number_that_was_once_told_beside_it_and_else_for_nobody() {
    let (mock, home) = (Mock::start().await, Home::new());
    let (mut program, contact) = tokio::join!(Program::paired(&mock, &home), Contact::paired(&mock));
    mock.hide(THEIRS);
    contact.say("with the number").await;
    let message = program.message("with the number").await;
    program.accept(&message).await;
    mock.hide_number(THEIRS);
    contact.say("without it").await;
    let message = program.message("without it").await;
    assert_eq!(message["from"], "+4915200000002");
    program.accept(&message).await;
    soon("all is acknowledged", || mock.unacknowledged(DEVICE) == 0).await;
    assert!(program.close().await.success());

    // The next run knows it, too.
    let mut program = Program::start(&mock, &home).await;
    program.status("online").await;
    contact.say("and now").await;
    let message = program.message("and now").await;
    assert_eq!(message["from"], "+4915200000002");
    program.accept(&message).await;

    // No number was ever told for this one: level3 hears nothing, and WhatsApp does not bring it
    // again.
    mock.hide_number("4915300000003");
    let stranger = Contact::of(&mock, "4915300000003").await;
    stranger.say("it is me").await;
    soon("the stranger's message is acknowledged", || mock.unacknowledged(DEVICE) == 0).await;
    contact.say("after it").await;
    let message = program.message("after it").await;
    program.accept(&message).await;
    let wrong = |line: &serde_json::Value| line["text"] == "it is me" || line.to_string().contains("@lid");
    assert!(!program.said.iter().any(wrong), "{:#?}", program.said);
}

#[tokio::test]
async fn groups_hidden_names_and_our_own_words_are_told_apart() {
    let (mock, home) = (Mock::start().await, Home::new());
    let (mut program, contact) = tokio::join!(Program::paired(&mock, &home), Contact::paired(&mock));
    mock.hide(THEIRS);
    contact.say("by a hidden name").await;
    let message = program.message("by a hidden name").await;
    assert_eq!((&message["from"], &message["chat"]), (&json!("+4915200000002"), &json!("direct")));
    program.accept(&message).await;

    mock.in_group(THEIRS, "120363000000000001@g.us");
    contact.say("to everybody").await;
    let message = program.message("to everybody").await;
    assert_eq!((&message["from"], &message["chat"]), (&json!("+4915200000002"), &json!("group")));
    program.accept(&message).await;

    let phone = Contact::own_phone(&mock).await;
    phone.say("a note to myself").await;
    let message = program.message("a note to myself").await;
    assert_eq!(
        (&message["own"], &message["from"], &message["to"]),
        (&json!(true), &json!("+4915100000001"), &json!("+4915100000001"))
    );
    program.accept(&message).await;

    // A message that we sent under an id of ours comes back from another device, and is nobody's
    // order.
    program.send(5, OURS, "our own answer").await;
    assert_eq!(program.answer(5).await["kind"], "sent");
    phone.say_as(&id_of(5), "our own answer").await;
    phone.say("after it").await;
    let message = program.message("after it").await;
    program.accept(&message).await;
    assert!(!program.said.iter().any(|line| line["text"] == "our own answer"), "{:#?}", program.said);
}

#[tokio::test]
async fn a_note_to_ourselves_is_to_our_number_if_the_chat_goes_by_our_hidden_name() {
    let (mock, home) = (Mock::start().await, Home::new());
    let mut program = Program::paired(&mock, &home).await;
    let phone = Contact::own_phone(&mock).await;
    mock.hide(OURS);
    phone.say("a note to myself").await;
    let message = program.message("a note to myself").await;
    let ours = json!(format!("+{OURS}"));
    let told = (&message["own"], &message["from"], &message["to"], &message["chat"]);
    assert_eq!(told, (&json!(true), &ours, &ours, &json!("direct")));
    program.accept(&message).await;
    soon("the note is acknowledged", || mock.unacknowledged(DEVICE) == 0).await;
    assert!(!program.said.iter().any(|line| line.to_string().contains("@lid")), "{:#?}", program.said);
}
