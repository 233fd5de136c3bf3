//! Users: one alone needs no login; several sign in, and each has what is theirs.

use level3::domain::UserId;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::people::{PASSWORD, Person, lea, request, two_people};
use crate::support::{TestApp, api, call, text};

async fn sign_in(app: &TestApp, name: &str, password: &str) -> (u16, Option<String>, String) {
    let body = json!({ "name": name, "password": password });
    request(app.address(), "", Method::POST, "/sign-in", Some(body)).await
}

#[tokio::test]
async fn alone_there_is_no_login_and_from_the_first_password_on_there_is() {
    let app = TestApp::start().await;
    let (status, me) = api::ask(&app, Method::GET, "/api/me", None).await;
    assert_eq!(
        (status, &me["id"], &me["role"], &me["tier"], &me["signed_in"]),
        (200, &json!(1), &json!("owner"), &json!("paid"), &json!(false))
    );
    let called = async |name: String| api::ask(&app, Method::PATCH, "/api/me", Some(json!({"display_name": name}))).await;
    for unfit in ["x".repeat(101), String::new(), " \u{202e} ".to_owned()] {
        let (status, refused) = called(unfit).await;
        let why = "a name has 1 to 100 characters, and one of them at least can be seen";
        assert_eq!((status, &refused["error"]), (400, &json!(format!("`display_name`: {why}"))));
        let says = "A name has 1 to 100 characters, and one of them at least can be seen.";
        assert_eq!(refused["at"], json!({"field": "display_name", "says": says}));
    }
    let turns = called("\u{202e}Ana".to_owned()).await.1;
    assert_eq!(turns["display_name"], "⟨U+202E⟩Ana", "nobody reads another name than is kept");
    assert_eq!(called("x".repeat(100)).await.0, 200);
    let (status, refused) = api::ask(&app, Method::POST, "/api/users", Some(json!({"name": "\u{202e}ána"}))).await;
    assert_eq!((status, &refused["at"]["field"]), (400, &json!("name")), "{refused}");
    let mut before = app.connect().await;
    let owner = Person::owner(&app).await;
    assert_eq!(before.closed().await, Some(1008), "a socket that came in without a login ends");
    let stranger = async |path: &str| request(app.address(), "", Method::GET, path, None).await.0;
    for path in ["/api/usage", "/metrics", "/v1/models", "/chat", "/api/nothing"] {
        assert_eq!(stranger(path).await, 401, "{path}");
    }
    assert_eq!(stranger("/").await, 303);
    for path in ["/healthz", "/readyz", "/sign-in"] {
        assert_eq!(stranger(path).await, 200, "{path}");
    }
    let page = request(app.address(), "", Method::GET, "/sign-in", None).await.2;
    let files: Vec<_> = page.split('"').filter(|text| text.starts_with("/s/")).collect();
    assert!(files.len() >= 4, "{page}");
    for file in &files {
        assert_eq!(stranger(file).await, 200, "{file}");
    }
    let folder = files[0].split("sign-in").next().unwrap();
    assert_eq!(stranger(&format!("{folder}shell/index.js")).await, 401, "the page itself is for who is in");
    assert_eq!(owner.ask(Method::GET, "/api/me", None).await.1["signed_in"], true);
    assert_eq!(owner.ask(Method::GET, "/api/usage", None).await.0, 200);
    let mut there = owner.connect().await;
    app.script([text("hello")]);
    there.ask("hi").await;
}

#[tokio::test]
async fn a_member_comes_in_by_a_link_that_works_once_and_for_a_day() {
    let app = TestApp::with_profile(lea()).await;
    let (status, refused) = api::ask(&app, Method::POST, "/api/users", Some(json!({"name": "Ana"}))).await;
    assert_eq!(status, 409, "the owner would lock themselves out: {refused}");
    let owner = Person::owner(&app).await;
    let ana = owner.adds(&app, "Ana").await;
    let me = ana.ask(Method::GET, "/api/me", None).await.1;
    assert_eq!(
        (&me["name"], &me["role"], &me["tier"], &me["password"]),
        (&json!("Ana"), &json!("member"), &json!("free"), &json!(true))
    );
    for name in ["ana", "ANA"] {
        assert_eq!(owner.ask(Method::POST, "/api/users", Some(json!({ "name": name }))).await.0, 409, "{name}");
    }
    let invite = async || {
        let invited = owner.ask(Method::POST, "/api/users/ana/invitation", None).await.1;
        invited["link"].as_str().unwrap().strip_prefix("/sign-in#").unwrap().to_owned()
    };
    let secret = invite().await;
    let use_it = async |secret: &str, password: &str| {
        let body = json!({ "secret": secret, "password": password });
        request(app.address(), "", Method::POST, "/sign-in/password", Some(body)).await.0
    };
    assert_eq!(use_it(&secret, "too short").await, 400);
    app.advance(23 * 3600);
    assert_eq!(use_it(&secret, PASSWORD).await, 200);
    assert_eq!(use_it(&secret, PASSWORD).await, 401, "once");
    let late = invite().await;
    app.advance(24 * 3600);
    assert_eq!(use_it(&late, PASSWORD).await, 401, "its day is over");
    assert_eq!(ana.ask(Method::GET, "/api/me", None).await.0, 401, "a new password ends the sessions before it");
    assert_eq!(sign_in(&app, "ANA", PASSWORD).await.0, 200);
}

#[tokio::test]
async fn a_wrong_name_reads_like_a_wrong_password_and_both_have_to_wait_after_five() {
    let (app, _owner, _ana) = two_people().await;
    let unknown = sign_in(&app, "Nobody", PASSWORD).await;
    let wrong = sign_in(&app, "Ana", "not the password").await;
    assert_eq!(unknown, wrong);
    assert_eq!(wrong.0, 401);
    for _ in 0..3 {
        assert_eq!(sign_in(&app, "Ana", "not the password").await.0, 401);
    }
    // Five failures came from this address.
    let (status, _, said) = sign_in(&app, "Ana", PASSWORD).await;
    assert_eq!(status, 429, "{said}");
    app.advance(60);
    assert_eq!(sign_in(&app, "Ana", PASSWORD).await.0, 200);
    assert_eq!(sign_in(&app, "Ana", "not the password").await.0, 401);
    assert_eq!(sign_in(&app, "Ana", PASSWORD).await.0, 429);
    app.advance(119);
    assert_eq!(sign_in(&app, "Ana", PASSWORD).await.0, 429, "the sixth doubles the wait");
    app.advance(1);
    assert_eq!(sign_in(&app, "Ana", PASSWORD).await.0, 200);
}

#[tokio::test]
async fn a_session_is_random_slides_ends_when_its_user_says_and_is_no_secret_in_the_table() {
    let (app, owner, ana) = two_people().await;
    let kept: Vec<String> =
        sqlx::query_scalar("SELECT encode(secret_sha256, 'hex') FROM sessions").fetch_all(&mut app.behind().await).await.unwrap();
    for sha256 in &kept {
        let cookie = format!("level3_session={sha256}");
        assert_eq!(request(app.address(), &cookie, Method::GET, "/api/me", None).await.0, 401, "{sha256} opens nothing");
        let bearer = crate::support::api::client().get(format!("http://{}/api/me", app.address())).bearer_auth(sha256);
        assert_eq!(bearer.send().await.unwrap().status(), 401);
    }
    // It slides: after 29 days it lasts 30 more.
    app.advance(29 * 24 * 3600);
    let (status, again, _) = request(app.address(), &ana.cookie, Method::GET, "/api/me", None).await;
    assert_eq!((status, again.as_deref()), (200, Some(ana.cookie.as_str())), "the browser hears that it lasts longer");
    app.advance(29 * 24 * 3600);
    assert_eq!(ana.ask(Method::GET, "/api/me", None).await.0, 200);
    assert_eq!(owner.ask(Method::GET, "/api/me", None).await.0, 401, "the owner's was not used for 30 days");
    let other = Person::of(&app, sign_in(&app, "Ana", PASSWORD).await.1.unwrap());
    assert_ne!(other.cookie, ana.cookie);
    let sessions = ana.ask(Method::GET, "/api/me/sessions", None).await.1;
    let of = |current: bool| {
        sessions["sessions"].as_array().unwrap().iter().find(|one| one["current"] == current).unwrap()["id"].clone()
    };
    let mut socket = other.connect().await;
    assert_eq!(ana.ask(Method::DELETE, &format!("/api/me/sessions/{}", of(false)), None).await.0, 200);
    assert_eq!(socket.closed().await, Some(1008));
    assert_eq!(other.ask(Method::GET, "/api/me", None).await.0, 401);
    let (_, gone, _) = request(app.address(), &ana.cookie, Method::POST, "/api/me/sign-out", Some(json!({}))).await;
    assert_eq!(gone.as_deref(), Some("level3_session="));
    assert_eq!(ana.ask(Method::GET, "/api/me", None).await.0, 401);
}

#[tokio::test]
async fn a_token_opens_its_users_door_until_it_is_taken_away() {
    let (app, owner, _ana) = two_people().await;
    let (status, made) = owner.ask(Method::POST, "/api/users/Ana/tokens", None).await;
    assert_eq!(status, 201);
    let with = async |token: &str| {
        let asked = api::client().get(format!("http://{}/api/me", app.address())).bearer_auth(token).send().await.unwrap();
        (asked.status().as_u16(), asked.json::<Value>().await.unwrap()["name"].clone())
    };
    let token = made["token"].as_str().unwrap();
    assert_eq!(with(token).await, (200, json!("Ana")));
    assert_eq!(app.count("SELECT count(*) FROM user_tokens").await, 1);
    assert_eq!(owner.ask(Method::DELETE, "/api/users/Ana/tokens", None).await.1, json!({"revoked": 1}));
    assert_eq!(with(token).await.0, 401);
}

#[tokio::test]
async fn who_is_disabled_is_out_at_once_and_comes_back_with_everything() {
    let (app, owner, ana) = two_people().await;
    let mut socket = ana.connect().await;
    app.script([text("Whole or skimmed?")]);
    socket.ask("remember the milk").await;
    let (status, user) = owner.ask(Method::PATCH, "/api/users/ana", Some(json!({"disabled": true}))).await;
    assert!(status == 200 && user["disabled_at"].is_string(), "{user}");
    assert_eq!(socket.closed().await, Some(1008));
    assert_eq!(ana.ask(Method::GET, "/api/me", None).await.0, 401);
    assert_eq!(sign_in(&app, "Ana", PASSWORD).await.0, 401);
    owner
        .ask(Method::PATCH, "/api/users/ana", Some(json!({"disabled": false, "tier": "paid", "time_zone": "America/Sao_Paulo"})))
        .await;
    let me = ana.ask(Method::GET, "/api/me", None).await.1;
    assert_eq!((&me["tier"], &me["time_zone"]), (&json!("paid"), &json!("America/Sao_Paulo")));
    assert_eq!(ana.ask(Method::GET, "/api/search?q=milk", None).await.1["found"].as_array().unwrap().len(), 1);
    for (change, status) in [
        (json!({"time_zone": "Mars/Olympus"}), 400),
        // The database has a zone of this name.
        (json!({"time_zone": "localtime"}), 400),
        (json!({"role": "owner"}), 409),
        (json!({"nonsense": 1}), 400),
    ] {
        assert_eq!(owner.ask(Method::PATCH, "/api/users/ana", Some(change)).await.0, status);
    }
    assert_eq!(owner.ask(Method::PATCH, "/api/users/owner", Some(json!({"disabled": true}))).await.0, 409);
}

#[tokio::test]
async fn a_user_is_removed_with_all_that_is_theirs_and_nothing_of_anybody_else() {
    let (app, owner, ana) = two_people().await;
    let mut hers = ana.connect().await;
    app.script([
        call("manage_tasks", json!({"action": "create", "title": "hers", "due_at": "2027-01-01T00:00:00Z"})),
        text("made"),
    ]);
    hers.ask("make a task").await;
    let mut his = owner.connect().await;
    app.script([call("manage_tasks", json!({"action": "create", "title": "his"})), text("made")]);
    his.ask("make a task").await;
    let of_ana =
        "SELECT (SELECT count(*) FROM conversations WHERE user_id <> 1) + (SELECT count(*) FROM tasks WHERE user_id <> 1)
                  + (SELECT count(*) FROM sessions WHERE user_id <> 1) + (SELECT count(*) FROM users WHERE id <> 1)";
    assert_eq!(app.count(of_ana).await, 4);
    let (messages, events) = ("SELECT count(*) FROM messages", "SELECT count(*) FROM events");
    let before = (app.count(messages).await, app.count(events).await);
    let (status, asked) = owner.ask(Method::DELETE, "/api/users/Ana", None).await;
    assert!(status == 409 && asked["error"].as_str().unwrap().contains("Ana"), "{asked}");
    assert_eq!(owner.ask(Method::DELETE, "/api/users/Ana?confirm=Bea", None).await.0, 409);
    assert_eq!(owner.ask(Method::DELETE, "/api/users/owner?confirm=owner", None).await.0, 409);
    assert_eq!(owner.ask(Method::DELETE, "/api/users/Ana?confirm=ana", None).await.0, 200);
    assert_eq!(app.count(of_ana).await, 0);
    assert_eq!((app.count(messages).await * 2, app.count("SELECT count(*) FROM wake_ups").await), (before.0, 0));
    assert!(app.count(events).await < before.1);
    assert_eq!(owner.ask(Method::GET, "/api/tasks", None).await.1["tasks"].as_array().unwrap().len(), 1);
    assert_eq!(ana.ask(Method::GET, "/api/me", None).await.0, 401);
    // All that is left is as it was written.
    assert_eq!(owner.ask(Method::GET, "/api/replay/check", None).await.1["clean"], true);
}

#[tokio::test]
async fn tasks_budgets_and_images_are_each_users_own() {
    let (app, owner, ana) = two_people().await;
    let task = |title: &str| call("manage_tasks", json!({"action": "create", "title": title, "due_at": "2026-11-20T08:30:00Z"}));
    let (mut hers, mut his) = (ana.connect().await, owner.connect().await);
    app.script([task("pear"), text("made")]);
    hers.ask("make a task").await;
    app.script([task("quince"), text("made")]);
    his.ask("make a task").await;
    // The prompt of each has their own tasks.
    app.script([call("manage_tasks", json!({"action": "list"})), text("there")]);
    let told = crate::support::results(&hers.ask("which tasks?").await);
    assert!(told[0].1.contains("pear") && !told[0].1.contains("quince"), "{told:?}");
    let prompt = format!("{:?}", app.script.requests().pop().unwrap().entries);
    assert!(prompt.contains("pear") && !prompt.contains("quince"), "{prompt}");
    let his_task = owner.ask(Method::GET, "/api/tasks", None).await.1["tasks"][0]["id"].as_i64().unwrap();
    app.script([call("manage_tasks", json!({"action": "delete", "id": his_task})), text("gone")]);
    let told = crate::support::results(&hers.ask("delete his").await);
    assert!(!told[0].0 && told[0].1.contains("there is no task"), "{told:?}");
    let theirs = app.store().of(UserId(2)).usage_report(app.now()).await.unwrap();
    let owners = app.store().owners().usage_report(app.now()).await.unwrap();
    assert_eq!((theirs.total.model.requests, owners.total.model.requests), (6, 2));
}

#[tokio::test]
async fn the_command_line_sets_who_has_an_account() {
    let app = TestApp::with_profile(lea()).await;
    let address = app.address().to_string();
    let token = api::level3(&app, &["user", "token", "owner"]).await;
    assert_eq!(token.code, 0, "{token:?}");
    let token = token.out.lines().last().unwrap().to_owned();
    let run = async |arguments: &[&str], input: &str| {
        api::level3_with(&[("LEVEL3_LISTEN", &address), ("LEVEL3_TOKEN", &token)], arguments, input).await
    };
    let short = run(&["user", "password", "owner"], "too short\n").await;
    assert!(short.code == 1 && short.err.contains("12 to 128") && !short.err.contains("too short"), "{short:?}");
    assert_eq!(run(&["user", "password", "owner"], &format!("{PASSWORD}\n")).await.code, 0);
    assert!(api::level3(&app, &["user", "list"]).await.err.contains("LEVEL3_TOKEN"), "without a token nobody is let in any more");
    let added = run(&["user", "add", "Ana", "--tier", "paid", "--zone", "Europe/Berlin"], "").await;
    assert!(added.code == 0 && added.out.contains(&format!("http://{address}/sign-in#")), "{added:?}");
    let listed = run(&["user", "list"], "").await;
    assert!(
        listed.out.contains("Ana") && listed.out.contains("Europe/Berlin") && listed.out.contains("no password"),
        "{listed:?}"
    );
    assert_eq!(run(&["user", "password", "Ana"], PASSWORD).await.code, 0);
    assert_eq!(sign_in(&app, "ana", PASSWORD).await.0, 200);
    for (arguments, said) in [
        (&["user", "tier", "Ana", "free"][..], "Ana: member, free, Europe/Berlin, may come in."),
        (&["user", "zone", "Ana", "UTC"], "Ana: member, free, UTC, may come in."),
        (&["user", "disable", "Ana"], "Ana: member, free, UTC, may not come in."),
        (&["user", "enable", "Ana"], "Ana: member, free, UTC, may come in."),
        (&["user", "role", "Ana", "member"], "Ana: member, free, UTC, may come in."),
        (&["user", "token", "Ana", "--revoke"], "Took 0 tokens of Ana away."),
    ] {
        let ran = run(arguments, "").await;
        assert!(ran.code == 0 && ran.out.contains(said), "{arguments:?}: {ran:?}");
    }
    let role = run(&["user", "role", "Ana", "owner"], "").await;
    assert!(role.code == 1 && role.err.contains("there is one"), "{role:?}");
    let unsure = run(&["user", "remove", "Ana"], "Bea\n").await;
    assert!(unsure.code == 1 && unsure.err.contains("Ana"), "{unsure:?}");
    let removed = run(&["user", "remove", "Ana"], "ana\n").await;
    assert!(removed.code == 0 && removed.out.contains("Removed Ana"), "{removed:?}");
}
