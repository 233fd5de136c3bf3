//! Several people at one server.

use std::net::SocketAddr;

use level3::domain::{Profile, Toolset, UserRole};
use level3::profiles::Profiles;
use reqwest::{Method, header};
use serde_json::{Value, json};

use super::{Client, TestApp};

/// The password of everybody here.
pub const PASSWORD: &str = "correct horse battery";

/// A person in a browser of their own.
pub struct Person {
    address: SocketAddr,
    pub cookie: String,
}

/// The profile of members, with a tool that is there.
pub fn lea() -> Profile {
    let builder = Profiles::default().get("builder").unwrap();
    let tools = Toolset::Only(&["manage_tasks"]);
    Profile { name: "lea", open_to: UserRole::Member, tools, by_hand: tools, ..(*builder).clone() }
}

/// A server with an owner and a member, each signed in.
pub async fn two_people() -> (TestApp, Person, Person) {
    let app = TestApp::with_profile(lea()).await;
    let owner = Person::owner(&app).await;
    let member = owner.adds(&app, "Ana").await;
    (app, owner, member)
}

/// A request of somebody with this cookie; its status, the cookie that it sets, and its text.
pub async fn request(
    address: SocketAddr,
    cookie: &str,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> (u16, Option<String>, String) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let mut request = http.request(method, format!("http://{address}{path}")).header(header::COOKIE, cookie);
    if let Some(body) = body {
        request = request.json(&body);
    }
    let response = request.send().await.unwrap();
    let set = response.headers().get(header::SET_COOKIE);
    let set = set.map(|cookie| cookie.to_str().unwrap().split(';').next().unwrap().to_owned());
    (response.status().as_u16(), set, response.text().await.unwrap())
}

impl Person {
    /// The owner, who sets the first password of a server.
    pub async fn owner(app: &TestApp) -> Self {
        let body = json!({ "password": PASSWORD });
        let (status, cookie, said) = request(app.address(), "", Method::PUT, "/api/me/password", Some(body)).await;
        assert_eq!(status, 200, "{said}");
        Self { address: app.address(), cookie: cookie.expect("who sets the first password is signed in") }
    }

    /// Somebody with a cookie.
    pub fn of(app: &TestApp, cookie: String) -> Self {
        Self { address: app.address(), cookie }
    }

    /// Adds a member, who uses their link.
    pub async fn adds(&self, app: &TestApp, name: &str) -> Self {
        let (status, invited) = self.ask(Method::POST, "/api/users", Some(json!({ "name": name }))).await;
        assert_eq!(status, 201, "{invited}");
        let secret = invited["link"].as_str().unwrap().strip_prefix("/sign-in#").unwrap();
        let body = json!({ "secret": secret, "password": PASSWORD });
        let (status, cookie, said) = request(app.address(), "", Method::POST, "/sign-in/password", Some(body)).await;
        assert_eq!(status, 200, "{said}");
        Self { address: self.address, cookie: cookie.unwrap() }
    }

    /// A request; its status and the JSON of the answer, if it is JSON.
    pub async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let (status, said) = self.said(method, path, body).await;
        (status, serde_json::from_str(&said).unwrap_or(Value::String(said)))
    }

    /// The same as text.
    pub async fn said(&self, method: Method, path: &str, body: Option<Value>) -> (u16, String) {
        let (status, _, said) = request(self.address, &self.cookie, method, path, body).await;
        (status, said)
    }

    pub async fn connect(&self) -> Client {
        Client::connect_with(self.address, Some(&self.cookie)).await
    }
}
