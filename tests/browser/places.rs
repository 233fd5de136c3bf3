//! The places of the page, their addresses, and several conversations at once.

use crate::driver::Page;
use crate::support::{TestApp, text};

const CONTROL: char = '\u{e009}';
const ENTER: char = '\u{e007}';
const NULL: char = '\u{e000}';
/// The messages of the conversation that is in sight.
const IN_SIGHT: &str = "return [...document.querySelectorAll('l3-messages:not([hidden]) [data-testid=message-assistant]')]\
                        .map(e => e.querySelector('.markdown').innerText.trim()).join('|')";
const SCROLLED: &str = "return document.documentElement.scrollTop";

#[tokio::test(flavor = "multi_thread")]
async fn every_place_has_an_address_and_an_unknown_one_says_so() {
    let app = TestApp::start().await;
    let Some(page) = Page::open(&app).await else { return };
    for place in ["tasks", "relay", "operator", "capabilities", "activity", "settings", "chat"] {
        page.go(place).await;
        page.find(&format!(".place[data-place={place}]:not([hidden])")).await;
        assert_eq!(page.run("return location.hash").await, format!("#{place}"));
        page.picture(&format!("place-{place}")).await;
        assert_eq!(page.run(SCROLLED).await, 0, "{place}");
    }
    page.run("history.back()").await;
    page.find(".place[data-place=settings]").await;
    page.reload().await;
    page.find(".place[data-place=settings]").await;
    page.run("location.hash = '#nowhere'").await;
    page.see("[data-testid=empty]", "There is nothing at #nowhere").await;
    page.go("chat").await;
    page.find("[data-testid=composer]").await;
    page.gone("[data-testid=empty]").await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_conversation_is_begun_and_the_first_is_found_by_a_word() {
    let app = TestApp::start().await;
    app.script([text("About apples."), text("About pears.")]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("apples please").await;
    page.see("[data-testid=message-assistant][data-final=true]", "About apples.").await;
    page.see("[data-testid=conversations]", "apples please").await;

    page.click("[data-testid=new-chat]").await;
    page.find("l3-messages:not([hidden]) .greeting:not([hidden])").await;
    page.say("pears please").await;
    page.see("[data-testid=message-assistant][data-final=true]", "About pears.").await;
    assert_eq!(page.run(IN_SIGHT).await, "About pears.");
    page.see("[data-testid=conversations]", "pears please").await;
    page.picture("conversations").await;
    page.reload().await;
    page.see("[data-testid=message-assistant][data-final=true]", "About pears.").await;
    assert_eq!(page.run(IN_SIGHT).await, "About pears.", "the address names the conversation");

    page.find("[data-testid=conversation-search]").await.send_keys("appl").await.unwrap();
    page.see("l3-found", "apples please").await;
    page.click("l3-found a").await;
    page.see("l3-messages:not([hidden])", "About apples.").await;
    assert_eq!(page.run(IN_SIGHT).await, "About apples.");
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_palette_goes_to_a_place_by_keyboard() {
    let app = TestApp::start().await;
    let Some(page) = Page::open(&app).await else { return };
    page.find("[data-testid=composer]").await.send_keys(&format!("{CONTROL}k{NULL}")).await.unwrap();
    page.find("[data-testid=palette]").await.send_keys(&format!("task{ENTER}")).await.unwrap();
    page.find(".place[data-place=tasks]").await;
    page.gone("dialog").await;
    page.close().await;
}
