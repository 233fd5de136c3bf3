//! The bounds of one request to a model.

use std::time::Duration;

/// How long to wait and how much to take. The defaults fit slow local models as well as fast remote
/// ones.
#[derive(Clone, Copy, Debug)]
pub struct ModelLimits {
    /// For the connection to stand.
    pub connect: Duration,
    /// From sending the request to the first token.
    pub first_token: Duration,
    /// Between two pieces of the answer.
    pub silence: Duration,
    /// For the whole answer.
    pub whole: Duration,
    /// For a server on this machine to list its models, when none was set.
    pub look: Duration,
    /// For what may follow the end of the answer: the usage, `[DONE]`.
    pub after_end: Duration,
    /// How often a failed request is sent again.
    pub retries: u32,
    /// The first pause before sending again; it doubles.
    pub retry_base: Duration,
    /// The longest pause a server may ask for with `Retry-After`.
    pub longest_pause: Duration,
    /// The longest answer, and the longest line of a stream, in bytes.
    pub answer_bytes: usize,
    /// The most that is read for one answer with everything around it, in bytes.
    pub wire_bytes: usize,
    /// How much the model can take, in tokens, if a person says so.
    pub context_tokens: Option<u32>,
    /// The longest answer in tokens, if it is to be shorter than the provider's usual.
    pub answer_tokens: Option<u32>,
}

impl Default for ModelLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_token: Duration::from_secs(120),
            silence: Duration::from_secs(60),
            whole: Duration::from_secs(30 * 60),
            look: Duration::from_millis(300),
            after_end: Duration::from_secs(3),
            retries: 3,
            retry_base: Duration::from_millis(500),
            longest_pause: Duration::from_secs(30),
            answer_bytes: 8 << 20,
            // A token of a few letters travels in a chunk of about 300 bytes.
            wire_bytes: 256 << 20,
            context_tokens: None,
            answer_tokens: None,
        }
    }
}
