//! A call that deleted something has a button that puts it back.

use serde_json::json;
use sqlx::Executor;

use crate::driver::Page;
use crate::support::{TestApp, calls, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_button_beside_the_call_puts_back_what_it_deleted() {
    let app = TestApp::start().await;
    let sql = |query: &str| ("execute_sql", json!({ "query": query }));
    app.script([
        calls(&[
            sql("CREATE TABLE notes (id int PRIMARY KEY, body text)"),
            sql("INSERT INTO notes SELECT n, 'note ' || n FROM generate_series(1, 5) n"),
            sql("DELETE FROM notes WHERE id < 3"),
            sql("UPDATE notes SET body = 'over' WHERE id = 4"),
        ]),
        text("Tidied up."),
    ]);
    let Some(page) = Page::open(&app).await else { return };
    page.say("tidy up").await;
    page.see("[data-testid=message-assistant][data-final=true]", "Tidied up.").await;
    // The page makes the rows above the answer a few in each frame.
    page.see("[data-testid=tool-undo]", "It deleted or overwrote 2 rows, kept for 30 days.").await;
    page.see("[data-testid=tool-undo]", "It deleted or overwrote 1 row, kept for 30 days.").await;
    let buttons = "return document.querySelectorAll('[data-testid=tool-undo-button]').length";
    assert_eq!(page.run(buttons).await, 2, "only where something can be put back");
    page.click("[data-testid=tool-undo-button]").await;
    page.see("[data-testid=tool-undo]", "Undone: 2 rows put back.").await;
    assert_eq!(app.count("SELECT count(*) FROM agent.notes").await, 5);

    // A row that has changed meanwhile stays, and the card says why; a reload shows the same.
    app.behind().await.execute("UPDATE agent.notes SET body = 'by hand' WHERE id = 4").await.unwrap();
    page.click("[data-testid=tool-undo-button]").await;
    page.see("[data-testid=tool-undo] .problem:not([hidden])", "is not as the call left it").await;
    page.picture("undo").await;
    page.reload().await;
    page.see("[data-testid=tool-undo]", "Undone: 2 rows put back.").await;
    assert_eq!(page.run(buttons).await, 1);
    page.close().await;
}
