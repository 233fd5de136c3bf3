//! Files of contacts: kept by their bytes, shown to a model that sees if they are images, and
//! otherwise only told of.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use futures::FutureExt;
use level3::domain::relay::{ContactAddress, MediaNote};
use level3::model::{Entry, Request};
use level3::store::{Came, NewIncoming, StoreError};
use serde_json::Value;

use super::program::{desk, goes, ordered};
use super::{ANNA, Desk, writes};
use crate::support::text;

/// The deed of the program when it is to send: it says that it did, and brings a message with this
/// file.
fn brings(bytes: &str, path: &str, claimed: &str) -> String {
    let media = format!(r#"\"media\":{{\"path\":\"{path}\",\"type\":\"{claimed}\",\"bytes\":9}}"#);
    let message = format!(r#"{{\"kind\":\"message\",\"id\":\"m1\",\"from\":\"+491701234567\",\"text\":\"look\",{media}}}"#);
    format!(r#"echo "{{\"kind\":\"sent\",\"id\":\"$id\"}}"; printf '{bytes}' > media/1; echo "{message}""#)
}

/// A conversation in which the contact sends a file; its message, and the model's last request.
async fn sent(desk: &Desk, sees: bool) -> (Value, Request) {
    if sees {
        desk.app.script.sees();
    }
    let id = ordered(desk).await;
    desk.app.script([writes("Thank you"), text("")]);
    goes(desk, id, 1, "sent").await;
    goes(desk, id, 3, "sent").await;
    desk.app.run_until_idle().await;
    (desk.transcript(id).await[1].clone(), desk.app.script.requests().pop().unwrap())
}

fn pictures(request: &Request) -> usize {
    let images = request.entries.iter().filter_map(|entry| match entry {
        Entry::UserWithImages { images, .. } => Some(images.len()),
        _ => None,
    });
    images.sum()
}

const PNG: &str = r"\211PNG\r\n\032\nrest";

#[tokio::test]
async fn a_model_that_sees_is_shown_the_image_of_a_contact() {
    let folder = tempfile::tempdir().unwrap();
    let desk = desk(folder.path(), &brings(PNG, "media/1", "image/png")).await;
    let (message, request) = sent(&desk, true).await;
    assert_eq!((&message["media"]["type"], &message["media"]["bytes"]), (&"image/png".into(), &12.into()), "{message}");
    assert_eq!(pictures(&request), 1);
    let shown = format!("{:?}", request.entries);
    assert!(shown.contains(r#"\"image\":1"#), "{shown}");
    let kept = desk.app.data().join("media").join(message["media"]["sha256"].as_str().unwrap());
    assert_eq!(fs::metadata(kept).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_model_that_does_not_see_is_told_kind_and_size() {
    let folder = tempfile::tempdir().unwrap();
    let desk = desk(folder.path(), &brings(PNG, "media/1", "image/png")).await;
    let (_, request) = sent(&desk, false).await;
    let shown = format!("{:?}", request.entries);
    assert!(pictures(&request) == 0 && shown.contains("image/png, 12 bytes") && shown.contains("cannot see images"), "{shown}");
}

#[tokio::test]
async fn html_and_svg_that_call_themselves_an_image_are_none() {
    for bytes in ["<svg onload=alert(1)>", "<html><script>alert(1)</script>"] {
        let folder = tempfile::tempdir().unwrap();
        let desk = desk(folder.path(), &brings(bytes, "media/1", "image/png")).await;
        let (message, request) = sent(&desk, true).await;
        assert_eq!(message["media"]["type"], "application/octet-stream", "{message}");
        assert_eq!(pictures(&request), 0);
    }
}

#[tokio::test]
async fn a_file_outside_the_folder_for_files_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let desk = desk(folder.path(), &brings(PNG, "media/../../../server-id", "image/png")).await;
    let (message, request) = sent(&desk, true).await;
    assert_eq!((message["media"]["omitted"].as_bool(), pictures(&request)), (Some(true), 0), "{message}");
    let shown = format!("{:?}", request.entries);
    assert!(shown.contains("bytes, not kept") && !shown.contains("too large"), "{shown}");
    assert!(!desk.app.data().join("media").exists(), "nothing is kept");
}

#[tokio::test]
async fn the_file_of_a_stranger_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let media = r#"\"media\":{\"path\":\"media/2\",\"type\":\"image/png\",\"bytes\":9}"#;
    let message = format!(r#"{{\"kind\":\"message\",\"id\":\"s1\",\"from\":\"+491709999999\",\"text\":\"look\",{media}}}"#);
    let deed = format!(r#"printf '{PNG} of a stranger' > media/2; echo "{message}"; {}"#, brings(PNG, "media/1", "image/png"));
    let desk = desk(folder.path(), &deed).await;
    let (message, _) = sent(&desk, false).await;
    let files = fs::read_dir(desk.app.data().join("media")).unwrap();
    let kept: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    assert_eq!(kept, [message["media"]["sha256"].as_str().unwrap()], "the contact's alone");
    assert!(!desk.app.data().join("channels/whatsapp/media/2").exists(), "its channel has no use for it any more");
}

#[tokio::test]
async fn nothing_is_locked_while_the_file_of_a_contact_is_kept() {
    let desk = Desk::start().await;
    desk.begun(ANNA).await;
    let mut behind = desk.app.behind().await;
    let keeping = async {
        let look = sqlx::query("SELECT FROM relay_contacts FOR UPDATE NOWAIT");
        look.execute(&mut behind).await.expect("the contact is free");
        Ok::<_, StoreError>(MediaNote { sha256: None, kind: "application/octet-stream".into(), bytes: 9, omitted: true })
    };
    let (from, media) = (ContactAddress::read(ANNA).unwrap(), Some(keeping.boxed()));
    desk.app.script([writes("Thank you"), text("")]);
    let new = NewIncoming { channel: "loopback", from: &from, peer_id: "m1", text: "look", media };
    let came = desk.app.store().take_from_contact(new, desk.app.now()).await.unwrap();
    assert!(matches!(came, Came::Kept(_)), "{came:?}");
    desk.app.run_until_idle().await;
}
