//! The reasons for which a speech server was of no use; each says what to do.

/// A speech server was not asked, or its answer cannot be used. A sentence names the server by the
/// setting with its address.
#[derive(Debug, thiserror::Error)]
pub enum SpeechError {
    /// None is set up.
    #[error("no speech server is set up here: set {0} (docs/voice.md)")]
    NotSet(&'static str),
    /// Its key cannot be had.
    #[error("{setting} names the secret {name}, {why}")]
    Key {
        /// The setting with the name.
        setting: &'static str,
        /// The name.
        name: String,
        /// The fault, and a way to mend it.
        why: String,
    },
    /// No answer came in time.
    #[error(
        "The speech server (VOICE_{0}_URL) did not answer within 20 seconds: see whether it runs, and how long one sentence takes there."
    )]
    Silent(&'static str),
    /// The request did not get through.
    #[error("The speech server (VOICE_{of}_URL) could not be asked: {why}")]
    Unasked {
        /// `STT` or `TTS`.
        of: &'static str,
        /// The reason, as the way out says it.
        why: String,
    },
    /// It refuses the key.
    #[error(
        "The speech server (VOICE_{of}_URL) refuses the key (status {status}): set VOICE_{of}_KEY to the name of a secret with the right one."
    )]
    Refused {
        /// `STT` or `TTS`.
        of: &'static str,
        /// Its status.
        status: u16,
    },
    /// It failed.
    #[error(
        "The speech server (VOICE_{of}_URL) answered with status {status}: its own log says why, or the path of the address is wrong."
    )]
    Failed {
        /// `STT` or `TTS`.
        of: &'static str,
        /// Its status.
        status: u16,
    },
    /// It says something else than it was asked for.
    #[error("The speech server (VOICE_{of}_URL) sent {kind} that is not {wanted}: write the whole address, path included.")]
    Odd {
        /// `STT` or `TTS`.
        of: &'static str,
        /// Its answer, by the type that it says it has.
        kind: String,
        /// The form that was asked for.
        wanted: &'static str,
    },
    /// It heard words that nobody could send.
    #[error("The speech server (VOICE_STT_URL) sent {0}, which no message can have: its own log says why.")]
    Unsendable(String),
}
