//! Real speech without a cloud: espeak-ng is the person's mouth at Chromium's fake microphone and
//! Law's, and Moonshine hears both. Skipped, loudly, if they are not installed; never under CI on a
//! machine for which there is a package.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::{NamedTempFile, TempDir};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::driver::Page;
use crate::support::api::client;
use crate::support::{TestApp, in_time};

const TASK: &str = "visit the museum on Saturday";

/// Both speech servers, as a program of its own.
struct SpeechPeer {
    address: String,
    _program: Child,
}

impl SpeechPeer {
    /// Starts them; `None` if they are not installed.
    async fn start() -> Option<Self> {
        // `scripts/peers` puts it beside what cargo builds.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("peers").join("speech");
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let wanted = std::fs::read(root.join("tests/peers/speech_requirements.txt")).unwrap();
        let speaks = Command::new("espeak-ng").arg("--version").output().await.is_ok();
        if !speaks || std::fs::read(folder.join("requirements.txt")).unwrap_or_default() != wanted {
            let why = "espeak-ng or tests/peers/speech_requirements.txt is not installed; `./run.sh test` installs both";
            let is_there = cfg!(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"));
            assert!(std::env::var("CI").is_err() || !is_there, "{why}, and under CI no story is skipped");
            // Past the test harness, which would hide the output of a test that passes.
            let _ = writeln!(std::io::stderr(), "\n!!! NOT RUN: a story of real speech: {why}.\n");
            return None;
        }
        let mut command = Command::new(folder.join("bin/python"));
        command.arg(root.join("tests/peers/speech.py")).env("PYTHONDONTWRITEBYTECODE", "1").kill_on_drop(true);
        let mut program = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        let address = in_time("the speech servers", lines.next_line()).await.unwrap().expect("it says its address");
        Some(Self { address, _program: program })
    }
}

/// The mouth of a person at a microphone: each time it is opened it plays the file from its
/// beginning, once.
struct Mouth {
    folder: TempDir,
}

impl Mouth {
    fn file(&self) -> PathBuf {
        self.folder.path().join("microphone.wav")
    }

    /// Says this when the microphone is opened next, behind a second of quiet.
    async fn will_say(&self, words: &str) {
        let spoken = NamedTempFile::new().unwrap();
        let mut command = Command::new("espeak-ng");
        command.args(["-v", "en-us", "-s", "145", "-w"]).arg(spoken.path()).arg(words);
        assert!(command.status().await.unwrap().success());
        let mut sound = std::fs::read(spoken.path()).unwrap();
        // The head of espeak-ng's files has 44 bytes, and samples of 16 bits.
        let rate = u32::from_le_bytes(sound[24..28].try_into().unwrap());
        drop(sound.splice(44..44, vec![0; 2 * usize::try_from(rate).unwrap()]));
        let data = u32::try_from(sound.len() - 44).unwrap();
        sound[4..8].copy_from_slice(&(data + 36).to_le_bytes());
        sound[40..44].copy_from_slice(&data.to_le_bytes());
        std::fs::write(self.file(), sound).unwrap();
    }
}

/// The words in a WAV file, by the peer that hears. The person is in a call.
async fn heard(app: &TestApp, sound: Vec<u8>) -> String {
    let asked = client().post(format!("http://{}/api/voice/transcriptions", app.address())).header("content-type", "audio/wav");
    let answer: Value = asked.body(sound).send().await.unwrap().json().await.unwrap();
    answer["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// Waits until Law was given so many files to play, and gives them.
async fn played(page: &Page, count: usize) -> Vec<Vec<u8>> {
    let wait = "return new Promise(done => { const look = () => window.played.length >= COUNT ? done(window.played) : setTimeout(look, 50); look(); })";
    serde_json::from_value(page.run(&wait.replace("COUNT", &count.to_string())).await).unwrap()
}

/// Words without what a transcriber writes now so and now so.
fn plain(text: &str) -> String {
    let words = text.to_lowercase().replace(|letter: char| !letter.is_alphanumeric(), " ");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The page keeps each file that Law is given to play.
const KEEP: &str = "
    window.played = [];
    const decode = AudioContext.prototype.decodeAudioData;
    AudioContext.prototype.decodeAudioData = function (bytes) {
        window.played.push(Array.from(new Uint8Array(bytes.slice(0))));
        return decode.call(this, bytes);
    };";

#[tokio::test(flavor = "multi_thread")]
async fn a_spoken_sentence_becomes_a_task_and_laws_spoken_answer_has_its_name() {
    let Some(peer) = SpeechPeer::start().await else { return };
    let mut app = TestApp::tour().await;
    app.stop().await;
    app.set("VOICE_STT_URL", &format!("{}/v1/audio/transcriptions", peer.address));
    app.set("VOICE_TTS_URL", &format!("{}/v1/audio/speech", peer.address));
    app.start_again().await;
    let mouth = Mouth { folder: tempfile::tempdir().unwrap() };
    mouth.will_say(&format!("Create {TASK}.")).await;
    let arguments = [
        "--use-fake-device-for-media-stream".to_owned(),
        "--use-fake-ui-for-media-stream".to_owned(),
        format!("--use-file-for-fake-audio-capture={}%noloop", mouth.file().display()),
        // No name has an address: nothing of it leaves the machine.
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1".to_owned(),
    ];
    let Some(page) = Page::open_with(&app, &arguments).await else { return };
    page.run(KEEP).await;
    page.go("assistant").await;
    page.click("[data-testid=talk-law]").await;
    page.click("[data-testid=confirm]").await;
    page.see("[data-testid=question]", "Should I create a task called").await;
    assert_eq!(app.count("SELECT count(*) FROM tasks").await, 0, "nothing is there before the yes");
    // The person says nothing until Law has begun to ask.
    played(&page, 1).await;
    page.click("[data-testid=voice-mute]").await;
    page.see("[data-testid=voice-state]", "Muted").await;
    mouth.will_say("Go ahead.").await;
    page.click("[data-testid=voice-mute]").await;
    app.until("SELECT count(*) FROM approvals WHERE channel = 'voice' AND state = 'approved'", 1).await;
    page.find(".todos l3-todo").await;
    let title = page.run("return document.querySelector('.todos l3-todo').textContent").await;
    assert!(plain(title.as_str().unwrap()).contains(&plain(TASK)), "{title}");
    // The question was played first, then the answer.
    for (sound, said) in played(&page, 2).await.into_iter().zip(["should i create a task called", "created the task"]) {
        let heard = plain(&heard(&app, sound).await);
        assert!(heard.starts_with(said) && heard.contains(&plain(TASK)), "{heard}");
    }
    page.click("[data-testid=voice-end]").await;
    page.see("[data-testid=voice-state]", "Call ended").await;
    assert_eq!(page.run("return window.speechSynthesis.getVoices().length").await, json!(0), "the browser said nothing");
    page.close().await;
    app.check_replay().await;
}
