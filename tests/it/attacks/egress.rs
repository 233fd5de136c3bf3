//! Attacks through the way out: a capability was granted hosts, and tries to reach more than those
//! grants mean.

#[path = "../../../src/egress/tests/loopbacks.rs"]
mod loopbacks;

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{obeyed, run_code, with_peer, written};
use crate::support::{AsksAnew, NameServer, Peer, TestApp};
use loopbacks::LOOPBACKS;

/// A capability that requests each address it is given.
fn messenger(hosts: &[String]) -> (&'static str, Value) {
    let body =
        "try { const r = await fetch(params.url, params.init); return 'reached ' + r.status + ' ' + (await r.text()).length }
        catch (error) { return 'refused: ' + error.message }";
    let mut written = written("messenger", body, json!({"http": {"hosts": hosts}}));
    written["parameters_schema"] =
        json!({"type": "object", "properties": {"url": {"type": "string"}, "init": {"type": "object"}}});
    ("write_capability", written)
}

/// A person approves the messenger with grants for these hosts; it is sent to each address, and its
/// words are compared.
async fn refused(app: &TestApp, hosts: &[String], attacks: &[(String, Value, &str)]) {
    let mut wanted = vec![messenger(hosts)];
    wanted.extend(attacks.iter().map(|(url, init, _)| ("messenger", json!({"url": url, "init": init}))));
    let told = obeyed(app, &wanted).await;
    assert!(told[0].0, "{}", told[0].1);
    for ((url, init, words), (_, said)) in attacks.iter().zip(&told[1..]) {
        assert!(said.starts_with("refused: ") && said.contains(words), "{url} {init}\nis not refused with “{words}”: {said}");
    }
}

fn plain(urls: &[String], words: &'static str) -> Vec<(String, Value, &'static str)> {
    urls.iter().map(|url| (url.clone(), json!({}), words)).collect()
}

#[tokio::test]
async fn every_way_to_write_127_0_0_1_is_refused_although_it_was_granted() {
    let peer = Peer::start().await;
    let app = TestApp::start().await;
    let port = peer.address.port();
    let ways = LOOPBACKS.iter().chain(&["localhost", "LOCALHOST", "ｌｏｃａｌｈｏｓｔ"]);
    let hosts: Vec<_> = ways.map(|way| format!("http://{way}:{port}")).collect();
    let urls: Vec<_> = hosts.iter().map(|host| format!("{host}/x")).collect();
    refused(&app, &hosts, &plain(&urls, "Requests go to public addresses only")).await;
    assert!(peer.arrived().is_empty());
}

#[tokio::test]
async fn private_and_special_addresses_are_refused_although_they_were_granted() {
    let app = TestApp::start().await;
    let ways = [
        "169.254.169.254",
        "[fd00:ec2::254]",
        "168.63.129.16",
        "100.100.100.200",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "192.0.0.192",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "240.0.0.1",
        "[fe80::1]",
        "[fc00::1]",
        "[ff02::1]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "[2001:0:a9fe:a9fe::]",
        "[::ffff:169.254.169.254]",
        "[::ffff:10.0.0.1]",
    ];
    let hosts: Vec<_> = ways.iter().map(|way| format!("http://{way}")).collect();
    let urls: Vec<_> = hosts.iter().map(|host| format!("{host}/latest/meta-data/")).collect();
    refused(&app, &hosts, &plain(&urls, "Requests go to public addresses only")).await;
}

#[tokio::test]
async fn a_grant_of_every_host_is_a_grant_of_public_hosts_on_the_usual_port() {
    let peer = Peer::start().await;
    let app = TestApp::with(&[("LEVEL3_EGRESS_ALLOW", &peer.address.to_string())]).await;
    let mut attacks = plain(
        &["http://127.0.0.1/".into(), "https://localhost/".into(), "http://169.254.169.254/".into(), "https://[::1]/".into()],
        "Requests go to public addresses only",
    );
    attacks.extend(plain(&[peer.host(), format!("http://localhost:{}/", peer.address.port())], "not granted"));
    refused(&app, &["*".into(), "http://*".into()], &attacks).await;
    assert!(peer.arrived().is_empty());
}

/// A name whose server belongs to the attacker. The grant means 127.0.0.2; the victim has the same
/// port on 127.0.0.1.
#[tokio::test]
async fn a_name_that_leads_elsewhere_at_the_next_look_leads_nowhere() {
    let (victim, good) = loop {
        let victim = Peer::start().await;
        // Another process may have that port there.
        if let Ok(listener) = tokio::net::TcpListener::bind(("127.0.0.2", victim.address.port())).await {
            break (victim, Peer::on(listener));
        }
    };
    let rounds: [&[&str]; 6] =
        [&["127.0.0.2"], &["127.0.0.1"], &["127.0.0.2", "127.0.0.1"], &["127.0.0.2", "::1"], &["127.0.0.2"], &["127.0.0.1"]];
    let server = NameServer::answering(&rounds).await;
    let resolver = Arc::new(AsksAnew(server.address));
    let app = TestApp::with_names(&[("LEVEL3_EGRESS_ALLOW", &good.address.to_string())], resolver).await;
    let host = format!("http://rebinding.example:{}", good.address.port());
    let to = |path: &str| ("messenger", json!({"url": format!("{host}{path}")}));
    let wanted = [
        messenger(std::slice::from_ref(&host)),
        to("/once"),
        to("/again"),
        to("/both"),
        to("/both-6"),
        to(&format!("/to?{host}/after")),
    ];
    let told = obeyed(&app, &wanted).await;
    assert_eq!(told[1].1, "reached 200 11", "looked up once, and connected to what was looked up");
    for (_, said) in &told[2..] {
        assert!(said.starts_with("refused: rebinding.example is at ") && said.contains("this machine"), "{told:#?}");
    }
    assert_eq!(server.questions(), 6, "each request and each redirect asked anew, and once");
    let paths: Vec<_> = good.arrived().iter().map(|arrived| arrived.path.split('?').next().unwrap().to_owned()).collect();
    assert_eq!((paths, victim.arrived().len()), (vec!["/once".to_owned(), "/to".to_owned()], 0));
}

#[tokio::test]
async fn no_way_to_write_an_address_leads_past_the_granted_host() {
    let (app, peer) = with_peer().await;
    let other = Peer::start().await;
    let (own, their) = (peer.address, other.address);
    let not_granted = [
        format!("http://{own}@{their}/"),
        format!("http://{own}%40{their}/").replace("%40", "@"),
        format!("http://{own}:x@{their}/"),
        format!("http://{their}/#@{own}/"),
        format!("http://{their}/?http://{own}/"),
        format!("http://{their}\\@{own}/"),
        format!("//{their}/"),
        format!("http://{}.evil.example:{}/", own.ip(), own.port()),
        format!("http://{}:1/", own.ip()),
        format!("http://{}/", own.ip()),
        format!("https://{own}/"),
        format!("ws://{own}/"),
        format!("ftp://{own}/"),
        format!("gopher://{own}/_x"),
        "file:///etc/passwd".into(),
        "data:text/plain,x".into(),
        "javascript:alert(1)".into(),
        "unix:/run/postgresql".into(),
    ];
    let mut attacks = plain(&not_granted, "");
    attacks.extend(plain(&[format!("http://name:word@{own}/"), format!("http://name@{own}/")], "a user name or a password"));
    refused(&app, &[peer.host()], &attacks).await;
    assert!(peer.arrived().is_empty() && other.arrived().is_empty(), "{:?} {:?}", peer.arrived(), other.arrived());
}

#[tokio::test]
async fn a_granted_path_and_method_are_that_path_and_method() {
    let (app, peer) = with_peer().await;
    let host = peer.host();
    let body =
        "try { await fetch(params.url, params.init); return 'reached' } catch (error) { return 'refused: ' + error.message }";
    let mut narrow = written("narrow", body, json!({"http": {"hosts": [{"host": host, "path": "/v1/", "methods": ["GET"]}]}}));
    narrow["parameters_schema"] = json!({"type": "object"});
    let attacks = [
        (format!("{host}/v1/../admin"), json!({})),
        (format!("{host}/v1/%2e%2e/admin"), json!({})),
        (format!("{host}/v1/..%2fadmin"), json!({})),
        (format!("{host}/v1/..%5cadmin"), json!({})),
        (format!("{host}/v1\\..\\admin"), json!({})),
        (format!("{host}/v1/%00"), json!({})),
        (format!("{host}/v10/x"), json!({})),
        (format!("{host}/admin"), json!({})),
        (format!("{host}/v1/x"), json!({"method": "DELETE"})),
        (format!("{host}/v1/x"), json!({"method": "post", "body": "x"})),
        (format!("{host}/v1/x"), json!({"headers": {"X-HTTP-Method-Override": "DELETE"}})),
        (format!("{host}/v1/x"), json!({"headers": {"x-method-override": "DELETE"}})),
        (format!("{host}/v1/x"), json!({"headers": {"X-Http-Method": "DELETE"}})),
        (format!("{host}/v1/x"), json!({"method": "TRACE"})),
        (format!("{host}/v1/x"), json!({"method": "CONNECT"})),
        (format!("{host}/v1/x"), json!({"method": "GET /admin HTTP/1.1\r\nx: y"})),
    ];
    let mut wanted = vec![("write_capability", narrow)];
    wanted.extend(attacks.iter().map(|(url, init)| ("narrow", json!({"url": url, "init": init}))));
    let told = obeyed(&app, &wanted).await;
    for ((url, init), (_, said)) in attacks.iter().zip(&told[1..]) {
        assert!(said.starts_with("refused: "), "{url} {init}: {said}");
    }
    assert!(peer.arrived().is_empty(), "{:?}", peer.arrived());
}

#[tokio::test]
async fn headers_of_the_connection_and_line_ends_smuggle_nothing() {
    let (app, peer) = with_peer().await;
    let host = peer.host();
    let send = |init: Value| ("messenger", json!({"url": format!("{host}/x"), "init": init}));
    let wanted = [
        messenger(std::slice::from_ref(&host)),
        send(json!({"headers": {"host": "evil.example", "x-seen": "1"}})),
        send(
            json!({"method": "POST", "body": "GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n", "headers": {"content-length": "0", "transfer-encoding": "chunked", "x-seen": "2"}}),
        ),
        send(
            json!({"headers": {"connection": "x-seen, upgrade", "upgrade": "h2c", "proxy-authorization": "x", "expect": "100-continue", "x-seen": "3"}}),
        ),
        send(json!({"headers": {"x-evil": "a\r\nx-injected: 1"}})),
        send(json!({"headers": {"x-evil": "a\nx-injected: 1"}})),
        send(json!({"headers": {"x-evil\r\nx-injected": "1"}})),
        ("messenger", json!({"url": format!("{host}/x HTTP/1.1\r\nx-injected: 1\r\n\r\nGET /smuggled")})),
        ("messenger", json!({"url": format!("{host}/x%0d%0ax-injected:%201")})),
    ];
    let told = obeyed(&app, &wanted).await;
    for said in &told[4..7] {
        assert!(said.1.starts_with("refused: "), "{told:#?}");
    }
    let arrived = peer.arrived();
    assert_eq!(arrived.iter().filter(|arrived| arrived.header("x-seen").is_some()).count(), 3, "{arrived:#?}");
    for request in &arrived {
        assert_eq!(request.header("host"), Some(peer.address.to_string().as_str()), "{request:?}");
        assert!(request.path.starts_with("/x") && request.header("x-injected").is_none(), "{request:?}");
        for name in ["upgrade", "proxy-authorization", "transfer-encoding", "expect"] {
            assert_eq!(request.header(name), None, "{request:?}");
        }
    }
    assert_eq!(arrived[1].body.len(), "GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n".len(), "all of it is the body");
}

#[tokio::test]
async fn redirects_lead_neither_to_private_addresses_nor_past_the_grant() {
    let (app, peer) = with_peer().await;
    let (other, metadata) = (Peer::start().await, "http://169.254.169.254/latest/meta-data/");
    let to = |target: &str| format!("{}/to?{target}", peer.host());
    let public = "Requests go to public addresses only";
    let there = other.host();
    let attacks: Vec<_> = [
        // Granted, and not public.
        (to(&there), public),
        (to(&there.replace("127.0.0.1", "localhost")), public),
        (to(&there.replace("127.0.0.1", "0x7f.1")), public),
        (to(&there.replace("127.0.0.1", "[::ffff:127.0.0.1]")), public),
        (to(metadata), public),
        (to(&format!("{}/to?{metadata}", peer.host())), public),
        // Not granted.
        (to("http://127.0.0.1:1/"), "not granted"),
        (to("https://evil.example/"), "not granted"),
        (to("//evil.example/"), "not granted"),
        (to("file:///etc/passwd"), "redirects to an address that cannot be read"),
        (to("ftp://evil.example/"), "redirects to an address that cannot be read"),
        (to(&format!("http://name:word@{}/", peer.address)), "redirects to an address that cannot be read"),
    ]
    .into_iter()
    .map(|(url, words)| (url, json!({}), words))
    .collect();
    let granted = [
        peer.host(),
        there.clone(),
        there.replace("127.0.0.1", "localhost"),
        there.replace("127.0.0.1", "[::ffff:127.0.0.1]"),
        "http://169.254.169.254".to_owned(),
    ];
    refused(&app, &granted, &attacks).await;
    assert!(other.arrived().is_empty());
    // Each redirect leads to the next.
    let path = "/to?/to?/to?/to?/to?/to?/to?/x";
    refused(&app, &[peer.host()], &[(format!("{}{path}", peer.host()), json!({}), "The redirects do not end: 5 were followed")])
        .await;
}

#[tokio::test]
async fn answers_and_requests_have_a_size() {
    let (app, peer) = with_peer().await;
    let big = "x".repeat(300_000);
    let headers: Value = (0..80).map(|n| (format!("x-{n}"), json!("y"))).collect::<serde_json::Map<_, _>>().into();
    refused(
        &app,
        &[peer.host()],
        &[
            (format!("{}/big", peer.host()), json!({}), "is longer than 1048576 bytes and was not kept"),
            (peer.host(), json!({"method": "POST", "body": big}), "may have 262144"),
            (format!("{}/{}", peer.host(), "x".repeat(9000)), json!({}), "too large"),
            (peer.host(), json!({"headers": headers}), "too large"),
        ],
    )
    .await;
    assert_eq!(peer.arrived().iter().map(|arrived| arrived.path.as_str()).collect::<Vec<_>>(), ["/big"]);
}

/// The one slow row: no peer may hold a call longer than the limit of a request.
#[tokio::test]
async fn a_peer_that_never_answers_is_given_up() {
    let (app, peer) = with_peer().await;
    let body = format!(
        "const started = await Promise.allSettled(Array.from({{length: 9}}, () => fetch('{}/hang'))); return started[0].reason.message",
        peer.host()
    );
    let mut client = app.connect().await;
    app.script([
        crate::support::call("write_capability", written("patient", &body, json!({"http": {"hosts": [peer.host()]}}))),
        crate::support::text("ready"),
    ]);
    client.allow("prepare").await;
    app.script([crate::support::call("patient", json!({})), crate::support::text("done")]);
    client.say("wait").await;
    peer.has(8).await;
    assert_eq!(peer.arrived().len(), 8, "no more than eight at once");
    let frames = client.turn().await;
    let (_, told) = crate::support::results(&frames).remove(0);
    assert!(told.contains("within 20 seconds") || told.contains("did not finish in time"), "{told}");
}

#[tokio::test]
async fn the_servers_own_doors_are_closed_to_capabilities_that_were_granted_them() {
    let app = TestApp::start().await;
    let own: SocketAddr = app.address();
    let hosts: Vec<_> =
        ["127.0.0.1", "localhost", "0.0.0.0", "[::ffff:127.0.0.1]"].map(|host| format!("http://{host}:{}", own.port())).into();
    let approve = |host: &String| {
        (
            format!("{host}/api/approvals/1/approve"),
            json!({"method": "POST", "headers": {"content-type": "application/json"}, "body": "{}"}),
            "Requests go to public addresses only",
        )
    };
    refused(&app, &hosts, &hosts.iter().map(approve).collect::<Vec<_>>()).await;
    let (ok, told) = run_code(
        &app,
        "asker",
        "return await fetch('http://127.0.0.1:8000/api/secrets').catch((e) => e.message)",
        json!({"kv": {}}),
    )
    .await;
    assert!(ok && told.contains("not granted `http`"), "{told}");
}
