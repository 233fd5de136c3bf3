//! Pictures of the screen, of a display that shows nothing but itself: taken, kept, sent to the
//! owner and to nobody else, and around risky actions.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use level3::model::Entry;
use reqwest::Method;
use serde_json::json;
use sha2::{Digest, Sha256};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ChangeWindowAttributesAux, ConnectionExt};

use super::{Desk, OWNER, STRANGER, harmless, judged, noted};
use crate::images::PNG;
use crate::support::{api::ask, call, in_time, text};

/// A display without a screen.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    /// Starts one; `None` if the machine has no Xvfb and this is not CI.
    async fn start() -> Option<Self> {
        let mut server = Command::new("Xvfb");
        server.args(["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset"]);
        let mut server = match server.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn() {
            Ok(server) => server,
            Err(error) if std::env::var("CI").is_err() => {
                // Past the test harness, which would hide the output of a test that passes.
                let _ = writeln!(
                    std::io::stderr(),
                    "\n!!! SKIPPED: a story of the operator's screen, because Xvfb cannot be started ({error}). `./run.sh test` installs it.\n"
                );
                return None;
            }
            Err(error) => panic!("Xvfb cannot be started, and under CI no story is skipped: {error}"),
        };
        let mut out = std::io::BufReader::new(server.stdout.take().unwrap());
        let number = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            std::io::BufRead::read_line(&mut out, &mut line).unwrap();
            line.trim().to_owned()
        });
        let number = in_time("the number of the display", number).await.unwrap();
        Some(Self { server, name: format!(":{number}") })
    }

    async fn desk(&self) -> Desk {
        Desk::with(&[("DISPLAY", &self.name)]).await
    }

    /// Paints all of it in one colour.
    fn paint(&self, rgb: u32) {
        let (connection, number) = x11rb::connect(Some(&self.name)).unwrap();
        let root = connection.setup().roots[number].root;
        let painted = ChangeWindowAttributesAux::new().background_pixel(rgb);
        connection.change_window_attributes(root, &painted).unwrap().check().unwrap();
        connection.clear_area(false, root, 0, 0, 0, 0).unwrap().check().unwrap();
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// An owner who asked for a picture, and the picture as it came to the phone.
async fn asked_for(display: &Display) -> (Desk, serde_json::Value) {
    let desk = display.desk().await;
    desk.app.script([call("take_screenshot", json!({"caption": "Your screen."})), harmless(), text("Sent.")]);
    desk.order("show me the screen").await;
    desk.heard(2).await;
    let picture = desk.phone(OWNER).await.into_iter().find(|message| message["media"].is_object()).expect("a picture");
    (desk, picture)
}

#[tokio::test]
async fn screenshot_file_generated() {
    let Some(display) = Display::start().await else { return };
    let (desk, picture) = asked_for(&display).await;
    let name = picture["media"]["sha256"].as_str().unwrap();
    let bytes = std::fs::read(desk.home().join("media").join(name)).unwrap();
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    assert_eq!((reader.info().width, reader.info().height), (640, 480));
}

#[tokio::test]
async fn a_picture_has_the_colour_of_the_screen() {
    let Some(display) = Display::start().await else { return };
    display.paint(0x00C0_4010);
    let (desk, picture) = asked_for(&display).await;
    let bytes = std::fs::read(desk.home().join("media").join(picture["media"]["sha256"].as_str().unwrap())).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    assert_eq!(pixels.len(), 640 * 480 * 3);
    assert!(pixels.chunks_exact(3).all(|pixel| *pixel == [0xC0, 0x40, 0x10]), "{:x?}", &pixels[..3]);
}

#[tokio::test]
async fn screenshot_sent_via_whatsapp() {
    let Some(display) = Display::start().await else { return };
    let (desk, picture) = asked_for(&display).await;
    assert_eq!((&picture["text"], &picture["media"]["type"]), (&json!("Your screen."), &json!("image/png")));
    assert_eq!(desk.phone(STRANGER).await.len(), 0);
    // The same by the channel program, in whose folder the file lies while it is sent.
    let folder = tempfile::tempdir().unwrap();
    let sent = super::terminal::picture_by_program(&display.name, folder.path()).await;
    let wanted: String = Sha256::digest(&sent.1).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(sent.0, wanted, "bit for bit");
}

#[tokio::test]
async fn media_saved_in_zeta_media() {
    let Some(display) = Display::start().await else { return };
    let (desk, picture) = asked_for(&display).await;
    let name = picture["media"]["sha256"].as_str().unwrap();
    let path = format!("/api/operator/media/{name}");
    let shown = crate::support::api::client().get(format!("http://{}{path}", desk.app.address())).send().await.unwrap();
    assert_eq!((shown.status().as_u16(), &shown.headers()["content-type"]), (200, &"image/png".parse().unwrap()));
    let bytes = shown.bytes().await.unwrap();
    let fingerprint: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(fingerprint, name);
}

/// A desk whose screen is one pixel: a program in place of `grim` gives it, so that no display is
/// needed.
pub async fn pictured() -> (tempfile::TempDir, Desk) {
    pictured_with(&[]).await
}

/// The same with further settings.
async fn pictured_with(more: &[(&str, &str)]) -> (tempfile::TempDir, Desk) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pixel.png"), STANDARD.decode(PNG).unwrap()).unwrap();
    let grim = folder.path().join("grim");
    std::fs::write(&grim, format!("#!/bin/sh\nexec cp '{}/pixel.png' \"$1\"\n", folder.path().display())).unwrap();
    std::fs::set_permissions(&grim, std::fs::Permissions::from_mode(0o700)).unwrap();
    let search = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let settings = [("WAYLAND_DISPLAY", "wayland-9"), ("PATH", &*search)];
    let desk = Desk::with(&[&settings, more].concat()).await;
    (folder, desk)
}

#[tokio::test]
async fn a_picture_goes_to_the_number_that_ordered_it_and_to_no_other_that_may_order() {
    let second = "+491701111111";
    let (_folder, desk) = pictured_with(&[("LEVEL3_OPERATOR", &format!("loopback:{OWNER},{second}"))]).await;
    for (number, other, of_other) in [(second, OWNER, 0), (OWNER, second, 2)] {
        desk.app.script([call("take_screenshot", json!({})), harmless(), text("Sent.")]);
        assert_eq!(desk.says(json!({"address": number, "text": "show me the screen"})).await, "order");
        assert_eq!(desk.heard_by(number, 2).await, "Sent.");
        let pictures = desk.phone(number).await.iter().filter(|message| message["media"].is_object()).count();
        assert_eq!((pictures, desk.phone(other).await.len()), (1, of_other), "{number}");
    }
}

#[tokio::test]
async fn a_picture_is_an_attachment_of_its_result_too_and_replay_knows_it() {
    let (_folder, desk) = pictured().await;
    desk.app.script.sees();
    desk.app.script([call("take_screenshot", json!({})), harmless(), text("Sent.")]);
    desk.order("show me the screen").await;
    desk.heard(2).await;
    let bytes = STANDARD.decode(PNG).unwrap();
    let name: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let url = format!("http://{}/api/attachments/{name}", desk.app.address());
    let shown = crate::support::api::client().get(url).send().await.unwrap();
    assert_eq!((shown.status().as_u16(), &shown.headers()["content-type"]), (200, &"image/png".parse().unwrap()));
    assert_eq!(shown.bytes().await.unwrap(), bytes);
    desk.app.check_replay().await;
    // An order of the page takes the same picture: it is kept once, beside both results.
    desk.app.script([call("take_screenshot", json!({})), harmless(), text("Here.")]);
    let conversation = desk.done(Method::GET, "/api/operator", None).await["conversation"].clone();
    let mut page = desk.app.connect().await;
    page.send(json!({"type": "message", "content": "and again", "id": "p1", "conversation": conversation})).await;
    desk.until(&["COMPLETED", "COMPLETED"]).await;
    let beside = "SELECT count(*) FROM messages m JOIN attachments a ON m.images -> 0 ->> 'sha256' = a.sha256
        WHERE m.role = 'tool'";
    assert_eq!((desk.app.count(beside).await, desk.app.count("SELECT count(*) FROM attachments").await), (2, 1));
    assert_eq!(desk.phone(OWNER).await.len(), 2, "the page shows it, and nobody is sent it");
    // The planner is shown the picture of its own task, and not that of the one before.
    let requests = desk.app.script.requests();
    let entries = &requests.last().unwrap().entries;
    assert_eq!(entries.iter().filter(|entry| matches!(entry, Entry::UserWithImages { .. })).count(), 1, "{entries:?}");
    assert!(!entries.iter().any(|entry| matches!(entry, Entry::User(words) if words.contains("[image 1"))), "{entries:?}");
}

#[tokio::test]
async fn a_planner_that_sees_is_shown_the_newest_picture_of_its_task() {
    let Some(display) = Display::start().await else { return };
    let desk = display.desk().await;
    desk.app.script.sees();
    desk.app.script([call("take_screenshot", json!({})), harmless(), text("It is black.")]);
    desk.order("what is on the screen?").await;
    desk.heard(2).await;
    let requests = desk.app.script.requests();
    let Some(Entry::UserWithImages { content, images }) = requests.last().unwrap().entries.last() else {
        panic!("{:?}", requests.last())
    };
    assert!(content.contains("take_screenshot") && images.len() == 1, "{content}");
    let bytes = std::fs::read(desk.home().join("media").join(&images[0].image.sha256)).unwrap();
    assert_eq!(&*images[0].url, format!("data:image/png;base64,{}", STANDARD.encode(bytes)));
    // The next task begins without it.
    desk.app.script([text("Friday.")]);
    desk.order("what day is it?").await;
    desk.heard(3).await;
    let requests = desk.app.script.requests();
    let seen = requests.last().unwrap().entries.iter().any(|entry| matches!(entry, Entry::UserWithImages { .. }));
    assert!(!seen, "{:?}", requests.last());
}

#[tokio::test]
async fn a_planner_that_sees_is_shown_the_image_that_came_with_an_order() {
    let folder = tempfile::tempdir().unwrap();
    let message = json!({
        "kind": "message", "id": "M1", "from": OWNER, "text": "what is this?",
        "media": {"path": "media/1.png", "bytes": 12, "type": "image/png"},
    });
    let script = format!(
        r"#!/bin/sh
printf '\211PNG\r\n\032\nrest' > media/1.png
while [ ! -e go ]; do sleep 0.01; done
echo '{message}'
cat > lines
"
    );
    let desk = Desk::over(&super::write_program(folder.path(), &script), &[]).await;
    desk.app.script.sees();
    desk.app.script([text("A picture.")]);
    // The server may not have made the folder yet.
    let own = desk.home().join("channels/whatsapp");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("go"), "").unwrap();
    desk.until(&["COMPLETED"]).await;
    let requests = desk.app.script.requests();
    let shown = requests.last().unwrap().entries.iter().find_map(|entry| match entry {
        Entry::UserWithImages { content, images } => Some((content, images)),
        _ => None,
    });
    let (content, images) = shown.unwrap_or_else(|| panic!("{:?}", requests.last()));
    assert!(content.contains("what is this?") && content.contains("kept as media/"), "{content}");
    let url = format!("data:image/png;base64,{}", STANDARD.encode(b"\x89PNG\r\n\x1a\nrest"));
    assert_eq!(images.iter().map(|picture| &*picture.url).collect::<Vec<_>>(), [url]);
}

#[tokio::test]
async fn without_a_display_an_error_says_so_and_nothing_is_sent() {
    let desk = Desk::start().await;
    desk.app.script([call("take_screenshot", json!({})), text("There is no screen.")]);
    desk.order("show me the screen").await;
    assert_eq!(desk.heard(1).await, noted("There is no screen.", "none yet"));
    let lines = desk.log(1, "task_completed").await;
    let failed = lines.iter().find(|line| line["event"] == "execution_error").unwrap()["result"].as_str().unwrap().to_owned();
    assert!(failed.contains("DISPLAY") && failed.contains("level3 operator"), "{failed}");
    // A display that does not answer.
    let desk = Desk::with(&[("DISPLAY", ":987")]).await;
    desk.app.script([call("take_screenshot", json!({})), harmless(), text("It did not answer.")]);
    desk.order("show me the screen").await;
    desk.heard(1).await;
    let lines = desk.log(1, "task_completed").await;
    let failed = lines.iter().find(|line| line["event"] == "execution_error").unwrap()["result"].as_str().unwrap().to_owned();
    assert!(failed.contains("display :987 gives no picture"), "{failed}");
}

#[tokio::test]
async fn a_risky_action_is_recorded_with_pictures_before_and_after() {
    let Some(display) = Display::start().await else { return };
    let desk = display.desk().await;
    desk.app.script([call("list_scripts", json!({})), judged("low", "high", "local", false), text("None.")]);
    desk.order("scripts?").await;
    assert_eq!(desk.heard(1).await, "None.\n\nRecorded in recordings/turn-1.");
    let named = desk.log(1, "task_completed").await;
    let named = named.iter().find(|line| line["event"] == "decision").unwrap();
    let named = (&named["decision"], &named["recording"]);
    assert_eq!(named, (&json!("record"), &json!("recordings/turn-1/call-1.json")));
    let recording = desk.file("recordings/turn-1/call-1.json").await;
    let recording: serde_json::Value = serde_json::from_str(&recording).unwrap();
    assert_eq!((&recording["name"], &recording["governor"]["risk"]), (&json!("list_scripts"), &json!("high")));
    assert_eq!(recording["result"], json!({"scripts": []}).to_string());
    // The picture after the action may come behind the first writing of the file, and the message
    // comes behind both.
    let named = (&recording["screen_before"], &recording["screen_after"]);
    assert_eq!(named, (&json!("call-1-before.png"), &json!("call-1-after.png")));
    let folder = desk.home().join("recordings/turn-1");
    for picture in ["call-1-before.png", "call-1-after.png"] {
        assert!(std::fs::metadata(folder.join(picture)).unwrap().len() > 100, "{picture}");
    }
    let shown = desk.done(Method::GET, "/api/operator/tasks/1/recordings", None).await;
    assert_eq!(shown["recordings"][0]["pictures"], json!(["before", "after"]));
    for (picture, file) in [("before", "call-1-before.png"), ("after", "call-1-after.png")] {
        let address = format!("http://{}/api/operator/tasks/1/recordings/1/{picture}", desk.app.address());
        let served = crate::support::api::client().get(address).send().await.unwrap();
        assert_eq!(served.headers()["content-type"], "image/png");
        assert_eq!(served.bytes().await.unwrap(), std::fs::read(folder.join(file)).unwrap());
    }
}

#[tokio::test]
async fn a_recording_is_shown_by_the_interface_and_nothing_beside_it() {
    let desk = Desk::start().await;
    desk.app.script([
        call("list_scripts", json!({})),
        judged("low", "high", "local", false),
        call("list_scripts", json!({})),
        harmless(),
        text("None."),
    ]);
    desk.order("scripts?").await;
    desk.heard(1).await;
    let shown = desk.done(Method::GET, "/api/operator/tasks/1/recordings", None).await;
    let recordings = shown["recordings"].as_array().unwrap();
    assert_eq!(recordings.len(), 1, "the second call was harmless: {shown}");
    let recording = &recordings[0];
    assert_eq!(
        (&recording["call"], &recording["name"], &recording["state"]),
        (&json!(1), &json!("list_scripts"), &json!("done"))
    );
    assert_eq!(recording["result"], json!({"scripts": []}).to_string());
    assert_eq!((&recording["pictures"], &recording["operations"]), (&json!([]), &json!([])), "this desk has no screen");
    let none = desk.done(Method::GET, "/api/operator/tasks/99/recordings", None).await;
    assert_eq!(none["recordings"], json!([]));
    desk.file("recordings/turn-1/call-1.json").await;
    std::fs::write(desk.home().join("recordings/turn-1/secret.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    for wrong in ["1/before", "1/../secret", "1/%2e%2e%2fsecret", "1/call-1", "7/after"] {
        let path = format!("/api/operator/tasks/1/recordings/{wrong}");
        let (status, answer) = ask(&desk.app, Method::GET, &path, None).await;
        assert_eq!(status, 404, "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_recording_has_each_operation_with_request_and_answer_and_no_secret() {
    let desk = Desk::start().await;
    let write = json!({
        "name": "keep", "description": "Keeps a word.",
        "code": "export default async function keep(params) { await host.kv.set('word', params.word); return await host.kv.get('word'); }",
        "parameters_schema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
        "grants": {"kv": {}},
        "tests": [{"params": {"word": "a"}, "expect": "a", "answers": [{"ok": null}, {"ok": "a"}]}],
    });
    desk.app.script([call("create_script", write), harmless(), text("Written.")]);
    desk.order("write a script that keeps a word").await;
    assert!(desk.heard(1).await.contains("Keep values of its own"), "a new power is asked for");
    desk.order("CONFIRMAR").await;
    desk.heard(2).await;
    let secret = "canary-0123456789";
    desk.done(Method::PUT, "/api/secrets/WORD", Some(json!({ "value": secret }))).await;
    desk.app.script([
        call("execute_script", json!({"name": "keep", "arguments": {"word": secret}})),
        judged("low", "high", "local", false),
        text("Kept."),
    ]);
    desk.order("keep my word").await;
    assert!(desk.heard(3).await.contains("recordings/turn-2"));
    let folder = desk.home().join("recordings/turn-2");
    let mut files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
    let file = files.find(|path| path.extension().is_some_and(|ending| ending == "json")).unwrap();
    let recording = std::fs::read_to_string(file).unwrap();
    assert!(!recording.contains(secret) && recording.contains("[secret WORD]"), "{recording}");
    let recording: serde_json::Value = serde_json::from_str(&recording).unwrap();
    // The ledger knows nothing of a value that was only read.
    let whole = folder.join(recording["operations_file"].as_str().unwrap());
    assert_eq!(std::fs::metadata(&whole).unwrap().permissions().mode() & 0o777, 0o600);
    let whole = std::fs::read_to_string(whole).unwrap();
    assert!(!whole.contains(secret), "{whole}");
    let whole: Vec<serde_json::Value> = whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = whole.iter().map(|noted| (&noted["ordinal"], &noted["request"]["kv"], &noted["answer"])).collect();
    let (kept, read) = (json!({"do": "set", "key": "word", "value": "[secret WORD]"}), json!({"do": "get", "key": "word"}));
    assert_eq!(told, [(&json!(1), &kept, &json!(true)), (&json!(2), &read, &json!("[secret WORD]"))]);
    let operations = recording["operations"].as_array().unwrap();
    assert!(!operations.is_empty() && operations[0]["kind"] == "kv", "{recording}");
    // Of a value the ledger keeps the fingerprint.
    assert_eq!(operations[0]["request"]["set"], "word", "{recording}");
}
