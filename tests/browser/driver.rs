//! One Chromium for each test, driven through chromedriver.

use std::io::Write;
use std::net::SocketAddr;
use std::process::Stdio;

use fantoccini::wd::WindowHandle;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::support::{PATIENCE, TestApp};

/// The approval that waits for the person.
pub const PENDING: &str = "[data-testid=approval][data-state=pending]";

/// A browser on the page of a test's server.
pub struct Page {
    client: Client,
    _driver: Child,
    _profile: TempDir,
}

impl Page {
    /// Opens the page; `None` if there is no Chromium and this is not CI.
    pub async fn open(app: &TestApp) -> Option<Self> {
        let page = Self::open_at(app.address()).await;
        if page.is_none() {
            app.script.forget();
        }
        page
    }

    /// As [`Page::open`], in a browser with these further arguments.
    pub async fn open_with(app: &TestApp, arguments: &[String]) -> Option<Self> {
        let page = Self::begin(app.address(), arguments).await?;
        page.find("[data-testid=connection][data-state=connected]").await;
        Some(page)
    }

    /// The same on any server, for one that is a process of its own.
    pub async fn open_at(address: SocketAddr) -> Option<Self> {
        let page = Self::begin(address, &[]).await?;
        page.find("[data-testid=connection][data-state=connected]").await;
        Some(page)
    }

    /// The page of a person who signs in with a password.
    pub async fn signed_in(app: &TestApp, name: &str, password: &str) -> Option<Self> {
        let page = Self::begin(app.address(), &[]).await?;
        // The form is there before it is shown.
        page.find("form:not([hidden]) #name").await.send_keys(name).await.unwrap();
        page.find("#password").await.send_keys(password).await.unwrap();
        page.click("form [type=submit]").await;
        page.find("[data-testid=connection][data-state=connected]").await;
        Some(page)
    }

    /// A browser that nobody has used yet, at the address of a server.
    async fn begin(address: SocketAddr, arguments: &[String]) -> Option<Self> {
        let (driver, port) = match start_driver().await {
            Ok(started) => started,
            Err(error) if std::env::var("CI").is_err() => {
                // Past the test harness, which would hide the output of a test that passes.
                let _ = writeln!(
                    std::io::stderr(),
                    "\n!!! SKIPPED: a browser story, because chromedriver cannot be started ({error}). `./run.sh test` installs it.\n"
                );
                return None;
            }
            Err(error) => panic!("chromedriver cannot be started, and under CI no story is skipped: {error}"),
        };
        let profile = tempfile::tempdir().unwrap();
        let options = json!({"goog:chromeOptions": {"args": [
            "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--window-size=1200,900",
            format!("--user-data-dir={}", profile.path().display()),
        ]}});
        let mut options = options;
        let all = options["goog:chromeOptions"]["args"].as_array_mut().expect("a list was written above");
        all.extend(arguments.iter().map(|argument| json!(argument)));
        let Value::Object(options) = options else { unreachable!("an object was written above") };
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let client = builder.capabilities(options).connect(&format!("http://127.0.0.1:{port}")).await.expect("Chromium starts");
        client.goto(&format!("http://{address}/")).await.unwrap();
        Some(Self { client, _driver: driver, _profile: profile })
    }

    /// Goes to a place of the page: `chat`, `assistant`, `tasks`, `capabilities`, `activity` or
    /// `settings`.
    pub async fn go(&self, place: &str) {
        self.click(&format!("[data-testid=place-{place}]")).await;
        self.find(&format!("[data-testid=place-{place}][aria-current]")).await;
    }

    /// Waits for an element.
    pub async fn find(&self, css: &str) -> fantoccini::elements::Element {
        match self.client.wait().at_most(PATIENCE).for_element(Locator::Css(css)).await {
            Ok(element) => element,
            Err(error) => panic!("`{css}` is not shown ({error}); the page says:\n{}", self.text().await),
        }
    }

    /// Opens the steps of every turn, which stand folded.
    pub async fn unfold(&self) {
        self.find("[data-testid=steps]").await;
        self.run("document.querySelectorAll('[data-testid=steps] > details').forEach(e => e.open = true)").await;
    }

    /// Waits for an element that contains a text.
    pub async fn see(&self, css: &str, text: &str) {
        let script = "return [...document.querySelectorAll(arguments[0])].some(e => e.textContent.includes(arguments[1]))";
        self.until(script, vec![json!(css), json!(text)], &format!("`{text}` in `{css}`")).await;
    }

    /// Waits for an element that contains a text, and opens what is folded until it does: some of
    /// what lies inside is made when it is opened.
    pub async fn see_inside(&self, css: &str, text: &str) {
        let script = "document.querySelectorAll('details').forEach(e => e.open = true); \
             return [...document.querySelectorAll(arguments[0])].some(e => e.textContent.includes(arguments[1]))";
        self.until(script, vec![json!(css), json!(text)], &format!("`{text}` in `{css}`, unfolded")).await;
    }

    /// Waits until no such element is left.
    pub async fn gone(&self, css: &str) {
        let script = "return document.querySelector(arguments[0]) === null";
        self.until(script, vec![json!(css)], &format!("no `{css}`")).await;
    }

    async fn until(&self, script: &str, arguments: Vec<Value>, wanted: &str) {
        let waiting = async {
            // Each question is a round trip to the browser, which paces the loop.
            while self.client.execute(script, arguments.clone()).await.unwrap() != json!(true) {}
        };
        if tokio::time::timeout(PATIENCE, waiting).await.is_err() {
            panic!("not shown: {wanted}; the page says:\n{}", self.text().await);
        }
    }

    async fn text(&self) -> String {
        self.run("return document.body.innerText").await.as_str().unwrap_or_default().to_owned()
    }

    /// Writes a message and sends it.
    pub async fn say(&self, text: &str) {
        self.find("[data-testid=composer]").await.send_keys(text).await.unwrap();
        self.click("[data-testid=send]").await;
    }

    /// Clicks on the first such element as soon as it can be seen.
    pub async fn click(&self, css: &str) {
        let shown = "return document.querySelector(arguments[0])?.checkVisibility() === true";
        self.until(shown, vec![json!(css)], &format!("`{css}`")).await;
        self.find(css).await.click().await.unwrap();
    }

    /// Reads the approval that waits as a person does: from its beginning, all that is folded
    /// opened, to its end; until Approve works.
    pub async fn read_approval(&self) {
        self.find(PENDING).await;
        self.run(&format!("document.querySelector('{PENDING}').scrollIntoView()")).await;
        // After a reload the window has no focus. The click that brings it to the front counts for
        // nothing else.
        self.click(&format!("{PENDING} h2")).await;
        self.find(&format!("{PENDING}:not([data-armed=unread])")).await;
        self.run(&format!("document.querySelectorAll('{PENDING} [data-testid=fold-open]').forEach(fold => fold.click())")).await;
        let rest =
            "const next = document.querySelector(arguments[0]); next?.scrollIntoView({block: 'center'}); return next === null";
        self.until(rest, vec![json!(format!("{PENDING} .approval-end:not([data-seen])"))], "the end of each part").await;
        self.find(&format!("{PENDING}[data-armed=true]")).await;
    }

    pub async fn run(&self, script: &str) -> Value {
        self.client.execute(script, Vec::new()).await.unwrap()
    }

    /// Keeps a picture of the page for a person to look at, if `LEVEL3_TEST_PICTURES` names a
    /// folder.
    pub async fn picture(&self, name: &str) {
        if let Ok(folder) = std::env::var("LEVEL3_TEST_PICTURES") {
            let picture = self.client.screenshot().await.unwrap();
            std::fs::write(std::path::Path::new(&folder).join(format!("{name}.png")), picture).unwrap();
        }
    }

    /// Opens the page of a server in one more tab and shows that; gives both tabs, the first one
    /// first.
    pub async fn second(&self, address: SocketAddr) -> [WindowHandle; 2] {
        let first = self.client.window().await.unwrap();
        let second = self.client.new_window(true).await.unwrap().handle;
        self.show(&second).await;
        self.client.goto(&format!("http://{address}/")).await.unwrap();
        self.find("[data-testid=connection][data-state=connected]").await;
        [first, second]
    }

    /// Shows a tab.
    pub async fn show(&self, tab: &WindowHandle) {
        self.client.switch_to_window(tab.clone()).await.unwrap();
    }

    /// Closes the tab that is shown, as a person does: its page may say goodbye. Another one has to
    /// be shown then.
    pub async fn close_tab(&self) {
        self.client.close_window().await.unwrap();
    }

    /// Kills the process of the tab that is shown: its page says nothing any more. The driver ends
    /// the browser then.
    pub async fn crash(self) {
        self.client.goto("chrome://crash").await.expect_err("the tab is gone");
        self.client.close().await.ok();
    }

    pub async fn reload(&self) {
        self.client.refresh().await.unwrap();
    }

    pub async fn close(self) {
        self.client.close().await.unwrap();
    }
}

async fn start_driver() -> std::io::Result<(Child, u16)> {
    let mut driver =
        Command::new("chromedriver").arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let mut lines = BufReader::new(driver.stdout.take().expect("it is piped")).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some((_, port)) = line.split_once("started successfully on port ") {
            let port = port.trim_end_matches('.').parse().map_err(std::io::Error::other)?;
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Ok((driver, port));
        }
    }
    Err(std::io::Error::other("it ended before it was ready"))
}
