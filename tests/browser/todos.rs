//! Lea in a real browser on the real server: alone without a login, and two people who see nothing
//! of each other.

use crate::driver::Page;
use crate::support::TestApp;
use crate::support::people::{PASSWORD, Person};

/// Goes to Lea by way of the picker.
async fn goes_to_lea(page: &Page) {
    page.go("assistant").await;
    page.click("[data-testid=choose-lea]").await;
    page.find(".talking [data-testid=composer]").await;
}

/// Says something to Lea.
async fn says(page: &Page, words: &str) {
    page.find(".talking [data-testid=composer]").await.send_keys(words).await.unwrap();
    page.click(".talking [data-testid=send]").await;
}

/// Has a task made, and says yes to the question.
async fn makes(page: &Page, title: &str) {
    says(page, &format!("add {title}")).await;
    page.see("[data-testid=question]", &format!("Should I create a task called “{title}”?")).await;
    page.click(".talking [data-testid=question-yes]:not([aria-disabled])").await;
    page.see(".todos l3-todo", title).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_made_without_key_or_login_and_is_there_after_a_reload() {
    let app = TestApp::tour().await;
    let Some(page) = Page::open(&app).await else { return };
    goes_to_lea(&page).await;
    says(&page, "add prepare the dinner party").await;
    page.see("[data-testid=question]", "Should I create a task called “prepare the dinner party”?").await;
    assert_eq!(app.count("SELECT count(*) FROM tasks").await, 0, "nothing is there before the yes");
    page.picture("lea-question").await;
    page.click(".talking [data-testid=question-yes]:not([aria-disabled])").await;
    page.see(".todos l3-todo", "prepare the dinner party").await;
    page.see(".talking [data-testid=message-assistant]", "Created the task “prepare the dinner party” with 4 subtasks").await;
    page.reload().await;
    page.see(".talking [data-testid=message-user]", "add prepare the dinner party").await;
    page.see(".todos l3-todo", "prepare the dinner party").await;
    page.go("tasks").await;
    page.see("[data-testid=tasks] l3-task", "prepare the dinner party").await;
    page.close().await;
    app.check_replay().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_people_in_two_browsers_see_nothing_of_each_other() {
    let app = TestApp::tour().await;
    let owner = Person::owner(&app).await;
    owner.adds(&app, "Ana").await;
    let Some(his) = Page::signed_in(&app, "owner", PASSWORD).await else { return };
    let Some(hers) = Page::signed_in(&app, "ana", PASSWORD).await else { return };
    goes_to_lea(&his).await;
    goes_to_lea(&hers).await;
    makes(&his, "water the cactus").await;
    makes(&hers, "feed the parrot").await;
    let text = "return document.body.innerText";
    for (page, own, others) in [(&his, "cactus", "parrot"), (&hers, "parrot", "cactus")] {
        for place in ["assistant", "tasks"] {
            page.go(place).await;
            let shown = if place == "tasks" { "[data-testid=tasks] l3-task" } else { "[data-testid=picker]" };
            page.find(shown).await;
            let told = page.run(text).await.to_string();
            assert!(!told.contains(others), "{place}: {told}");
        }
        page.see("[data-testid=tasks] l3-task", own).await;
    }
    assert_eq!(app.count("SELECT count(*) FROM tasks WHERE user_id = 2").await, 1);
    his.close().await;
    hers.close().await;
    app.check_replay().await;
}
