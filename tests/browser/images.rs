//! Images that a person puts into a message: by a button, by pasting, by dropping.

use level3::model::Entry;
use serde_json::json;

use crate::driver::Page;
use crate::support::{TestApp, in_time, text};

/// Draws a picture in the page itself and hands it over as an event of this kind would.
const HAND_OVER: &str = "const canvas = Object.assign(document.createElement('canvas'), {width: 60, height: 40}); \
     const draw = canvas.getContext('2d'); draw.fillStyle = COLOUR; draw.fillRect(0, 0, 60, 40); \
     canvas.toBlob((blob) => { const data = new DataTransfer(); data.items.add(new File([blob], 'drawn.png', {type: 'image/png'})); EVENT });";
const PASTE: &str = "document.querySelector('[data-testid=composer]').dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, cancelable: true}));";
const DROP: &str = "document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));";
const LOADED: &str =
    "return [...document.querySelectorAll('[data-testid=message-user] img')].map(i => i.complete && i.naturalWidth)";

const NOTE: &str = "return [document.querySelector('[data-testid=add-image]').title, document.querySelector('[data-testid=images-note]').hidden]";

async fn hand_over(page: &Page, event: &str, colour: &str) {
    page.run(&HAND_OVER.replace("COLOUR", &format!("'{colour}'")).replace("EVENT", event)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn images_are_pasted_dropped_removed_sent_and_seen_again_after_a_reload() {
    let app = TestApp::start().await;
    app.script.sees();
    app.script([text("A green one.")]);
    let Some(page) = Page::open(&app).await else { return };
    hand_over(&page, PASTE, "red").await;
    page.find("[data-testid=images] [data-testid=thumbnail]:nth-child(1)").await;
    assert_eq!(page.run(NOTE).await, json!(["Add images or files", true]));
    hand_over(&page, DROP, "green").await;
    page.find("[data-testid=images] [data-testid=thumbnail]:nth-child(2)").await;
    page.picture("images").await;
    page.click("[data-testid=images] [data-testid=thumbnail]:nth-child(1) button").await;
    // An image that was put in and not sent survives a reload.
    page.reload().await;
    page.find("[data-testid=images] [data-testid=thumbnail]:only-child").await;
    page.say("which colour?").await;
    page.see("[data-testid=message-assistant][data-final=true]", "A green one.").await;
    assert_eq!(page.run("return document.querySelectorAll('[data-testid=images] img').length").await, 0);
    let requests = app.script.requests();
    let Some(Entry::UserWithImages { images, .. }) = requests[0].entries.last() else { panic!("{:?}", requests[0].entries) };
    assert_eq!(images.len(), 1);

    page.reload().await;
    page.find("[data-testid=message-user] a[href^='/api/attachments/'] img").await;
    let waiting = async { while page.run(LOADED).await != json!([60]) {} };
    in_time("the picture from the server", waiting).await;
    page.picture("images-sent").await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_cannot_see_is_named_before_an_image_is_sent_and_may_be_sent_it() {
    let app = TestApp::start().await;
    app.script([text("I cannot see it.")]);
    let Some(page) = Page::open(&app).await else { return };
    page.find("[data-testid=add-image][title*='scripted cannot see images']").await;
    assert_eq!(page.run(NOTE).await[1], true, "nothing is to be sent yet");
    hand_over(&page, PASTE, "red").await;
    page.see("[data-testid=images-note]", "scripted cannot see images").await;
    page.picture("images-blind").await;
    page.say("which colour?").await;
    page.see("[data-testid=message-assistant][data-final=true]", "I cannot see it.").await;
    assert_eq!(page.run(NOTE).await[1], true);

    // A page that comes back is told of the model that is there then.
    app.script.sees();
    page.reload().await;
    page.find("[data-testid=add-image][title='Add images or files']").await;
    hand_over(&page, PASTE, "green").await;
    page.find("[data-testid=images] [data-testid=thumbnail]").await;
    assert_eq!(page.run(NOTE).await[1], true);
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_added_by_the_button_and_one_that_is_neither_image_nor_text_is_refused_in_words() {
    let app = TestApp::start().await;
    let Some(page) = Page::open(&app).await else { return };
    let folder = tempfile::tempdir().unwrap();
    let wrong = folder.path().join("notes.zip");
    std::fs::write(&wrong, b"PK\x03\x04\xff\xfe no picture, and no text").unwrap();
    let put = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    page.run("document.querySelector('l3-composer input[type=file]').hidden = false").await;
    page.find("l3-composer input[type=file]").await.send_keys(&put(&wrong)).await.unwrap();
    page.see("#composer-hint.wrong", "notes.zip is not taken").await;
    // The bytes say what a file is, and not its name.
    let hostile = folder.path().join("hostile.png");
    std::fs::write(&hostile, "<html><script>alert(1)</script>").unwrap();
    page.find("l3-composer input[type=file]").await.send_keys(&put(&hostile)).await.unwrap();
    page.see("#composer-hint.wrong", "hostile.png is called an image and is none").await;
    page.gone("[data-testid=images] [data-testid=thumbnail]").await;
    let other = folder.path().join("photo.jpg");
    std::fs::write(&other, b"GIF89a\x01\x00\x01\x00\x00\x00\x00;").unwrap();
    page.find("l3-composer input[type=file]").await.send_keys(&put(&other)).await.unwrap();
    page.find("[data-testid=images] [data-testid=thumbnail] img[src^='data:image/gif']").await;
    page.close().await;
}
