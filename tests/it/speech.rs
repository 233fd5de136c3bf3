//! Speech servers of one's own: the sound of a call goes there and nowhere else, in the forms that
//! they read, and every fault of theirs is a sentence that says what to do.

use level3::domain::voice::VoiceAdapter;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::people::{Person, two_people};
use crate::support::{Peer, TestApp, api, in_time};

/// A WAV file with so many samples of silence.
fn wav(samples: u32) -> Vec<u8> {
    let data = samples * 2;
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + data).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data");
    bytes.extend(data.to_le_bytes());
    bytes.resize(44 + data as usize, 0);
    bytes
}

/// A server with both speech servers at one peer.
async fn with_servers(more: &[(&str, &str)]) -> (TestApp, Peer) {
    let peer = Peer::start().await;
    let (hears, speaks) = (format!("{}/inference", peer.host()), format!("{}/v1/audio/speech", peer.host()));
    let own = [("VOICE_STT_URL", &*hears), ("VOICE_TTS_URL", &*speaks)];
    (TestApp::with(&[&own[..], more].concat()).await, peer)
}

/// A call by these servers, connected.
async fn calls(app: &TestApp) -> i64 {
    let (status, begun) = api::ask(app, Method::POST, "/api/voice/calls", Some(json!({"adapter": "own"}))).await;
    assert_eq!((status, &begun["adapter"]), (200, &json!("own")), "{begun}");
    let call = begun["call"].as_i64().unwrap();
    assert_eq!(api::ask(app, Method::POST, &format!("/api/voice/calls/{call}/beat"), Some(json!({}))).await.0, 200);
    call
}

async fn hangs_up(app: &TestApp, call: i64) {
    assert_eq!(api::ask(app, Method::DELETE, &format!("/api/voice/calls/{call}"), None).await.0, 200);
}

/// Sends sound of a type; the status and the answer.
async fn transcribes(app: &TestApp, kind: &str, sound: Vec<u8>) -> (u16, Value) {
    let url = format!("http://{}/api/voice/transcriptions", app.address());
    let sent = api::client().post(url).header("content-type", kind).body(sound).send().await.unwrap();
    assert_eq!(sent.headers()["content-type"], "application/json");
    (sent.status().as_u16(), sent.json().await.unwrap())
}

async fn speaks(app: &TestApp, text: &str) -> (u16, Option<String>, Vec<u8>) {
    let url = format!("http://{}/api/voice/speech", app.address());
    let sent = api::client().post(url).json(&json!({ "text": text })).send().await.unwrap();
    let kind = sent.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
    (sent.status().as_u16(), kind, sent.bytes().await.unwrap().to_vec())
}

/// The sentence of a refusal.
fn error(said: &[u8]) -> String {
    serde_json::from_slice::<Value>(said).unwrap()["error"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn speech_becomes_words_and_words_speech_in_the_form_that_servers_read() {
    let (app, peer) = with_servers(&[("VOICE_STT_MODEL", "small"), ("VOICE_TTS_VOICE", "nova")]).await;
    let line = api::ask(&app, Method::GET, "/api/voice", None).await.1;
    let at = peer.address.to_string();
    assert_eq!(line["servers"], json!({"hears": at, "speaks": at, "vapi": false}));
    let call = calls(&app).await;
    peer.will_answer(200, "application/json", r#"{"text": " Add buy milk.\n [BLANK_AUDIO]"}"#);
    assert_eq!(transcribes(&app, "audio/wav", wav(8000)).await, (200, json!({"text": "Add buy milk."})));
    let asked = &peer.arrived()[0];
    assert_eq!((&*asked.method, &*asked.path, asked.header("authorization")), ("POST", "/inference", None));
    let boundary = asked.header("content-type").unwrap().strip_prefix("multipart/form-data; boundary=").unwrap();
    assert_eq!(asked.body.matches(boundary).count(), 4, "{boundary}");
    for part in [
        "name=\"file\"; filename=\"speech.wav\"\r\nContent-Type: audio/wav\r\n\r\nRIFF",
        "name=\"model\"\r\n\r\nsmall\r\n",
        "name=\"response_format\"\r\n\r\njson\r\n",
    ] {
        assert!(asked.body.contains(part), "{part}");
    }
    // A server that streams says no length, and the page gets the right one.
    let mut streamed = wav(100);
    streamed[40..44].fill(0xff);
    peer.will_answer(200, "audio/wav", streamed);
    let (status, kind, sound) = speaks(&app, "Done! You're crushing it!").await;
    assert_eq!((status, kind.as_deref(), sound), (200, Some("audio/wav"), wav(100)));
    let asked = &peer.arrived()[1];
    assert_eq!(asked.path, "/v1/audio/speech");
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(body, json!({"model": "tts-1", "input": "Done! You're crushing it!", "voice": "nova", "response_format": "wav"}));
    // The last words come behind the end of the call; nothing is heard any more.
    hangs_up(&app, call).await;
    peer.will_answer(200, "audio/wav", wav(10));
    assert_eq!(speaks(&app, "You've used your voice minutes for this month.").await.0, 200);
    assert_eq!(transcribes(&app, "audio/wav", wav(10)).await.0, 409);
    assert_eq!(peer.arrived().len(), 3);
}

#[tokio::test]
async fn the_server_that_hears_is_told_the_persons_language_if_it_knows_its_name() {
    let (app, peer) = with_servers(&[]).await;
    let call = calls(&app).await;
    for (lang, named) in [("?lang=pt-BR", Some("pt")), ("?lang=nb", Some("no")), ("?lang=tlh", None), ("", None)] {
        peer.will_answer(200, "application/json", r#"{"text": "Adicione leite."}"#);
        let url = format!("http://{}/api/voice/transcriptions{lang}", app.address());
        let sent = api::client().post(url).header("content-type", "audio/wav").body(wav(10)).send().await.unwrap();
        assert_eq!(sent.status().as_u16(), 200, "{lang}");
        let asked = peer.arrived().pop().unwrap().body;
        let field = named.map(|named| format!("name=\"language\"\r\n\r\n{named}\r\n"));
        assert!(field.map_or(!asked.contains("\"language\""), |field| asked.contains(&field)), "{lang}");
    }
    hangs_up(&app, call).await;
    app.check_replay().await;
}

#[tokio::test]
async fn a_member_hears_nothing_of_the_settings_of_speech() {
    let (_app, owner, ana): (TestApp, Person, Person) = two_people().await;
    assert_eq!(owner.ask(Method::PATCH, "/api/users/ana", Some(json!({"tier": "paid"}))).await.0, 200);
    for adapter in ["own", "vapi"] {
        let (status, refused) = ana.ask(Method::POST, "/api/voice/calls", Some(json!({"adapter": adapter}))).await;
        assert_eq!((status, &refused["error"]), (409, &json!("Something went wrong, please try again")), "{adapter}");
    }
    let (status, refused) = ana.ask(Method::POST, "/api/voice/speech", Some(json!({"text": "Hello"}))).await;
    assert_eq!((status, &refused["error"]), (404, &json!("Something went wrong, please try again")));
}

#[tokio::test]
async fn pipers_server_is_asked_in_its_own_form() {
    let peer = Peer::start().await;
    let url = peer.host();
    let app = TestApp::with(&[("VOICE_TTS_URL", &url), ("VOICE_TTS_SHAPE", "piper")]).await;
    peer.will_answer(200, "audio/wav", wav(10));
    assert_eq!(speaks(&app, "Hello").await.0, 200);
    assert_eq!(serde_json::from_str::<Value>(&peer.arrived()[0].body).unwrap(), json!({"text": "Hello"}));
    // Without a server that hears, the browser does that.
    let (status, refused) = api::ask(&app, Method::POST, "/api/voice/calls", Some(json!({"adapter": "own"}))).await;
    assert_eq!(status, 409);
    assert_eq!(refused["error"], "no speech server is set up here: set VOICE_STT_URL (docs/voice.md)");
    assert_eq!(api::ask(&app, Method::GET, "/api/voice", None).await.1["servers"]["hears"], Value::Null);
}

#[tokio::test]
async fn a_key_comes_out_of_the_vault_and_shows_up_nowhere_else() {
    let (app, peer) = with_servers(&[("VOICE_STT_KEY", "SPEECH"), ("VOICE_TTS_KEY", "SPEECH")]).await;
    let call = calls(&app).await;
    let (status, missing) = transcribes(&app, "audio/wav", wav(10)).await;
    assert_eq!(status, 503);
    assert_eq!(missing["error"], "VOICE_STT_KEY names the secret SPEECH, and there is none: `level3 secret set SPEECH` sets it");
    let set = api::ask(&app, Method::PUT, "/api/secrets/SPEECH", Some(json!({"value": "sk-12345678"}))).await;
    assert_eq!(set.0, 200, "{set:?}");
    // A server that says the key aloud is not repeated.
    peer.will_answer(200, "application/json", r#"{"text": "my key is sk-12345678"}"#);
    let (_, heard) = transcribes(&app, "audio/wav", wav(10)).await;
    assert!(!heard.to_string().contains("sk-12345678"), "{heard}");
    assert_eq!(peer.arrived()[0].header("authorization"), Some("Bearer sk-12345678"));
    peer.will_answer(401, "application/json", r#"{"error": "sk-12345678 is wrong"}"#);
    let (status, _, said) = speaks(&app, "Hello").await;
    assert_eq!(status, 502);
    assert_eq!(
        error(&said),
        "The speech server (VOICE_TTS_URL) refuses the key (status 401): set VOICE_TTS_KEY to the name of a secret with the right one."
    );
    hangs_up(&app, call).await;
}

#[tokio::test]
async fn a_server_that_is_silent_broken_or_no_speech_server_is_told_in_a_sentence() {
    let (app, peer) = with_servers(&[]).await;
    let call = calls(&app).await;
    let page = "<!doctype html><title>It works</title>";
    let endless = json!({"text": "a".repeat(1_114_113)}).to_string();
    for (status, kind, body, said) in [
        (200, "text/html", page, "that is not JSON with `text`: write the whole address, path included."),
        (200, "application/json", "{\"words\": 1}", "sent an answer of the type application/json that is not JSON with `text`"),
        (200, "application/json", "{\"text\": ", "sent an answer of the type application/json that is not JSON with `text`"),
        (200, "application/json", r#"{"text": "a\u0000b"}"#, "sent words with a zero character, which no message can have"),
        (200, "application/json", &*endless, "sent 1114113 bytes of words, which no message can have"),
        (500, "text/plain", "out of memory", "answered with status 500: its own log says why"),
        (404, "text/html", page, "answered with status 404"),
        (302, "text/html", page, "answered with status 302"),
    ] {
        peer.will_answer(status, kind, body);
        let (answered, told) = transcribes(&app, "audio/wav", wav(10)).await;
        let told = told["error"].as_str().unwrap().to_owned();
        assert!(answered == 502 && told.starts_with("The speech server (VOICE_STT_URL) ") && told.contains(said), "{told}");
    }
    // A type alone makes no file.
    for kind in ["text/html", "audio/wav"] {
        peer.will_answer(200, kind, page);
        let (status, _, said) = speaks(&app, "Hello").await;
        let told = format!("sent an answer of the type {kind} that is not a WAV file");
        assert!(status == 502 && error(&said).contains(&told), "{}", error(&said));
    }
    // A silent one: the server's clock says when it is given up.
    let before = peer.arrived().len();
    for of in ["STT", "TTS"] {
        peer.hang_next();
        let waits = async {
            match of {
                "STT" => {
                    let (status, told) = transcribes(&app, "audio/wav", wav(10)).await;
                    (status, told["error"].as_str().unwrap().to_owned())
                }
                _ => {
                    let (status, _, said) = speaks(&app, "Hello").await;
                    (status, error(&said))
                }
            }
        };
        let turns = async {
            peer.has(before + if of == "STT" { 1 } else { 2 }).await;
            app.advance(20);
        };
        let ((status, told), ()) = in_time("the end of patience", async { tokio::join!(waits, turns) }).await;
        assert_eq!(status, 504);
        assert!(told.starts_with(&format!("The speech server (VOICE_{of}_URL) did not answer within 20 seconds")), "{told}");
    }
    peer.release();
    hangs_up(&app, call).await;
    app.check_replay().await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_and_a_redirect_leads_nowhere() {
    let elsewhere = Peer::start().await;
    let peer = Peer::start().await;
    let redirects = format!("{}/to?{}/stolen", peer.host(), elsewhere.host());
    let (port, nobody) = crate::support::reserved_port();
    let app = TestApp::with(&[("VOICE_STT_URL", &redirects), ("VOICE_TTS_URL", &format!("http://{nobody}/"))]).await;
    let call = calls(&app).await;
    let (status, told) = transcribes(&app, "audio/wav", wav(10)).await;
    assert_eq!(status, 502, "{told}");
    assert_eq!((peer.arrived().len(), elsewhere.arrived().len()), (1, 0));
    let (status, _, said) = speaks(&app, "Hello").await;
    assert_eq!(status, 502);
    assert_eq!(error(&said), "The speech server (VOICE_TTS_URL) could not be asked: 127.0.0.1 cannot be reached.");
    drop(port);
    hangs_up(&app, call).await;
}

#[tokio::test]
async fn only_sound_of_a_call_and_short_texts_are_sent_on() {
    let (app, peer) = with_servers(&[]).await;
    let refused = "send a WAV file, with the header Content-Type: audio/wav";
    assert_eq!(transcribes(&app, "audio/wav", wav(10)).await.0, 409, "nobody is in a call");
    let (_, begun) = api::ask(&app, Method::POST, "/api/voice/calls", Some(json!({"adapter": "browser"}))).await;
    assert_eq!(transcribes(&app, "audio/wav", wav(10)).await.0, 409, "the browser hears in that one");
    hangs_up(&app, begun["call"].as_i64().unwrap()).await;
    let call = calls(&app).await;
    for (kind, sound) in [
        ("audio/wav", b"ID3\x04 is a song and no file of samples, as anybody can hear".to_vec()),
        ("audio/wav", Vec::new()),
        ("audio/mpeg", wav(10)),
        ("application/json", b"{}".to_vec()),
        ("multipart/form-data; boundary=x", wav(10)),
    ] {
        assert_eq!(transcribes(&app, kind, sound).await, (415, json!({ "error": refused })), "{kind}");
    }
    // Half a minute fits, and a megabyte more does not.
    peer.will_answer(200, "application/json", r#"{"text": "long"}"#);
    assert_eq!(transcribes(&app, "audio/wav; codecs=1", wav(480_000)).await.0, 200);
    let (status, large) = transcribes(&app, "audio/wav", wav(524_288)).await;
    assert_eq!((status, &large["error"]), (413, &json!("the sound is too large: 1048576 bytes is the most, half a minute")));
    let (status, _, said) = speaks(&app, &"é".repeat(501)).await;
    assert_eq!((status, &*error(&said)), (413, "`text` has more than 500 characters; send a sentence at a time"));
    let (status, _, said) = speaks(&app, " \n").await;
    assert_eq!((status, &*error(&said)), (400, "`text` is empty; there is nothing to say"));
    assert_eq!(peer.arrived().len(), 1);
    peer.will_answer(200, "audio/wav", wav(1));
    assert_eq!(speaks(&app, &"é".repeat(500)).await.0, 200);
    hangs_up(&app, call).await;
    assert_eq!(app.count("SELECT count(*) FROM voice_calls WHERE adapter = 'own' AND reason = 'hung_up'").await, 1);
    assert_eq!(VoiceAdapter::Own.as_str(), "own");
    app.check_replay().await;
}

#[tokio::test]
async fn without_voice_in_the_tier_no_server_is_asked() {
    let (app, _owner, ana): (TestApp, Person, Person) = two_people().await;
    let (status, refused) = ana.ask(Method::POST, "/api/voice/speech", Some(json!({"text": "Hello"}))).await;
    assert_eq!((status, &refused["error"]), (403, &json!("Talking with Law is not part of your tier.")));
    assert_eq!(ana.ask(Method::POST, "/api/voice/trial", None).await.0, 403);
    drop(app);
}

#[tokio::test]
async fn the_doctor_has_them_say_and_hear_a_sentence() {
    let peer = Peer::start().await;
    let (hears, speaks) = (format!("{}/inference", peer.host()), format!("{}/", peer.host()));
    let settings = [("VOICE_STT_URL", &*hears), ("VOICE_TTS_URL", &*speaks), ("VOICE_TTS_SHAPE", "piper")];
    let examine = async |more: &[(&str, &str)]| {
        let ran = api::level3_with(&[&settings[..], more].concat(), &["doctor", "--json"], "").await;
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let checks = report["server"].as_array().unwrap().clone();
        let of = |what: &str| checks.iter().find(|check| check["what"] == what).cloned().unwrap_or_default();
        (of("words to speech"), of("speech to words"))
    };
    peer.will_answer(200, "audio/wav", wav(4800));
    peer.will_answer(200, "application/json", r#"{"text": "Hello, this is law."}"#);
    let (said, heard) = examine(&[]).await;
    assert_eq!((&said["state"], &heard["state"]), (&json!("ok"), &json!("ok")), "{said} {heard}");
    assert_eq!(heard["said"], format!("{} heard “Hello, this is law.”", peer.address));
    assert_eq!(serde_json::from_str::<Value>(&peer.arrived()[0].body).unwrap(), json!({"text": "Hello, this is Law."}));
    peer.will_answer(500, "text/plain", "no voice");
    peer.will_answer(200, "application/json", r#"{"text": ""}"#);
    let (said, heard) = examine(&[]).await;
    assert!(said["state"] == "failed" && said["said"].as_str().unwrap().contains("status 500"), "{said}");
    assert!(heard["state"] == "ok" && heard["said"].as_str().unwrap().contains("only silence was sent"), "{heard}");
    // A key is in the vault, which only a running server opens.
    let key = [("VOICE_STT_KEY", "SPEECH"), ("LEVEL3_LISTEN", "127.0.0.1:9")];
    let (said, heard) = examine(&key).await;
    assert_eq!((&said["state"], &heard["state"]), (&json!("skipped"), &json!("skipped")));
    assert!(heard["said"].as_str().unwrap().contains("start the server at 127.0.0.1:9"), "{heard}");
    assert_eq!(peer.arrived().len(), 4);
    let running = TestApp::with(&[&settings[..], &[("VOICE_STT_KEY", "SPEECH")]].concat()).await;
    api::ask(&running, Method::PUT, "/api/secrets/SPEECH", Some(json!({"value": "sk-12345678"}))).await;
    peer.will_answer(200, "audio/wav", wav(4800));
    peer.will_answer(200, "application/json", r#"{"text": "Hello."}"#);
    let address = running.address().to_string();
    let (said, heard) = examine(&[("VOICE_STT_KEY", "SPEECH"), ("LEVEL3_LISTEN", &address)]).await;
    assert_eq!((&said["state"], &heard["state"]), (&json!("ok"), &json!("ok")), "{said} {heard}");
    assert_eq!(peer.arrived()[5].header("authorization"), Some("Bearer sk-12345678"));
}
