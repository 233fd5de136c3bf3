//! A call by speech servers of one's own: Chromium's fake microphone plays a file, the page cuts it
//! into utterances, and what the servers say is played. No recogniser and no voice of the browser
//! is used.

use std::io::Write;

use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::driver::Page;
use crate::support::{Peer, TestApp};

const QUESTION: &str = "Should I create a task called “buy milk”?";

/// A WAV file of one channel with these samples.
fn wav(rate: u32, samples: &[i16]) -> Vec<u8> {
    let data = u32::try_from(samples.len() * 2).unwrap();
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + data).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    bytes.extend(rate.to_le_bytes());
    bytes.extend((rate * 2).to_le_bytes());
    bytes.extend(b"\x02\0\x10\0data");
    bytes.extend(data.to_le_bytes());
    bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    bytes
}

/// Somebody who speaks for a second in every six: a voice of many tones that swells and fades as
/// syllables do, so that nothing takes it for noise.
fn speaker() -> NamedTempFile {
    const RATE: u32 = 48_000;
    let sample = |at: u32| {
        let time = f64::from(at) / f64::from(RATE);
        if !(2.0..3.0).contains(&time) {
            return 0;
        }
        let pitch = 140.0 + 30.0 * (time * 7.0).sin();
        let tones: f64 =
            (1..12).map(|tone| (time * pitch * f64::from(tone) * std::f64::consts::TAU).sin() / f64::from(tone)).sum();
        let syllable = 0.55 - 0.45 * (time * 4.0 * std::f64::consts::TAU).cos();
        #[expect(clippy::cast_possible_truncation, reason = "within the range of a sample")]
        let sample = (tones * syllable * 9000.0).clamp(-32_000.0, 32_000.0) as i16;
        sample
    };
    let samples: Vec<i16> = (0..6 * RATE).map(sample).collect();
    let mut file = tempfile::Builder::new().suffix(".wav").tempfile().unwrap();
    file.write_all(&wav(RATE, &samples)).unwrap();
    file
}

/// The texts that the server was asked to speak.
fn spoken(peer: &Peer) -> Vec<String> {
    let texts = peer.arrived().into_iter().map(|asked| serde_json::from_str::<Value>(&asked.body).unwrap()["input"].clone());
    texts.map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn hears(peer: &Peer, words: &str) {
    peer.will_answer(200, "application/json", json!({ "text": words }).to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn speech_of_the_microphone_becomes_a_task_and_a_word_into_laws_silences_it() {
    let (ear, mouth) = (Peer::start().await, Peer::start().await);
    ear.always_answers(200, "application/json", r#"{"text": ""}"#);
    mouth.always_answers(200, "audio/wav", wav(16_000, &[0; 3200]));
    let (stt, tts) = (format!("{}/inference", ear.host()), format!("{}/v1/audio/speech", mouth.host()));
    let mut app = TestApp::tour().await;
    app.stop().await;
    app.set("VOICE_STT_URL", &stt);
    app.set("VOICE_TTS_URL", &tts);
    app.start_again().await;
    let file = speaker();
    let arguments = [
        "--use-fake-device-for-media-stream".to_owned(),
        "--use-fake-ui-for-media-stream".to_owned(),
        format!("--use-file-for-fake-audio-capture={}", file.path().display()),
    ];
    let Some(page) = Page::open_with(&app, &arguments).await else { return };
    page.go("assistant").await;
    page.click("[data-testid=talk-law]").await;
    // Before the microphone opens the person reads where the sound goes.
    let dialog = format!("level3 sends your voice to the speech server at {}", ear.address);
    page.see("dialog[open]", &dialog).await;
    assert_eq!(app.count("SELECT count(*) FROM voice_calls").await, 0);
    page.click("[data-testid=confirm]").await;
    page.see("[data-testid=voice-state]", "Law listens").await;
    page.see("[data-testid=voice-where]", &ear.address.to_string()).await;
    hears(&ear, " Add buy milk.");
    page.see("[data-testid=question]", QUESTION).await;
    mouth.has(1).await;
    assert_eq!(spoken(&mouth), [QUESTION]);
    let sound = ear.arrived().into_iter().next().unwrap();
    assert_eq!((&*sound.path, sound.header("authorization")), ("/inference", None));
    assert!(sound.body.contains("WAVEfmt ") && sound.body.len() > 30_000, "{} bytes", sound.body.len());
    assert_eq!(app.count("SELECT count(*) FROM tasks").await, 0, "nothing is there before the yes");
    // The answer is long, and the person says something before its end.
    mouth.always_answers(200, "audio/wav", wav(16_000, &vec![0; 60 * 16_000]));
    hears(&ear, "Go ahead.");
    page.see(".todos l3-todo", "buy milk").await;
    assert_eq!(app.count("SELECT count(*) FROM approvals WHERE channel = 'voice' AND state = 'approved'").await, 1);
    page.see("[data-testid=voice-unheard]", "Not heard: Created the task").await;
    page.picture("law-own-servers").await;
    // A server that fails is told, and the call goes on.
    ear.will_answer(200, "text/html", "<title>It works</title>");
    page.see("[data-testid=voice-problem]", "sent an answer of the type text/html that is not JSON with `text`").await;
    page.see("[data-testid=voice-state]", "Law").await;
    page.click("[data-testid=voice-end]").await;
    page.see("[data-testid=voice-state]", "Call ended").await;
    app.until("SELECT count(*) FROM voice_calls WHERE ended_at IS NULL", 0).await;
    assert_eq!(app.count("SELECT count(*) FROM voice_calls WHERE adapter = 'own' AND reason = 'hung_up'").await, 1);
    page.close().await;
    app.check_replay().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_hears_is_a_choice_of_the_person() {
    let ear = Peer::start().await;
    let mut app = TestApp::tour().await;
    app.stop().await;
    app.set("VOICE_STT_URL", &ear.host());
    app.start_again().await;
    let Some(page) = Page::open(&app).await else { return };
    // A browser without a screen has no microphone.
    page.run("navigator.mediaDevices.enumerateDevices = async () => [{ kind: 'audioinput' }]").await;
    page.go("assistant").await;
    page.click("[data-testid=talk-law]").await;
    page.see("dialog[open]", "level3 sends your voice to the speech server").await;
    page.run("document.querySelector('dialog[open]').close()").await;
    page.find("[data-testid=voice-adapter] select").await;
    page.run("const choice = document.querySelector('[data-testid=voice-adapter] select'); choice.value = 'browser'; choice.dispatchEvent(new Event('change'))").await;
    page.see("[data-testid=voice-where]", "The maker of this browser").await;
    page.click("[data-testid=voice-call]").await;
    page.see("dialog[open]", "The maker of this browser turns your voice into words").await;
    page.close().await;
}
