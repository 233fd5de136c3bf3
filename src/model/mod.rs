//! Language models: what is asked of one and what it answers. Real ones behind an OpenAI-compatible
//! address, and the tour.

mod aside;
mod assemble;
mod body;
mod chain;
pub mod checks;
pub mod choice;
pub mod client;
pub mod detect;
mod limits;
mod names;
pub mod providers;
mod reading;
pub mod reference;
mod refusal;
mod rescue;
mod retry;
mod schema;
mod stream;
mod tells;
pub mod tour;
mod transport;

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use crate::domain::{CallRequest, Image, ModelInfo, Rate, RefusalCode, SharedSpec, Usage};
use crate::store::Meter;

pub use assemble::REPETITION;
pub use rescue::written_call;

/// One entry of what a model is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// The system text: the assistant's role and the rules that hold.
    System(String),
    /// Words of a person or of the heartbeat.
    User(String),
    /// The same with images, for a model that sees.
    UserWithImages {
        /// The person's words; may be empty.
        content: String,
        /// The pictures sent with them.
        images: Vec<Picture>,
    },
    /// An earlier answer of the model, with its calls.
    Assistant {
        /// The text; may be empty beside tool calls.
        content: String,
        /// The tools it asked for.
        calls: Vec<CallRequest>,
    },
    /// The outcome of a tool call.
    Tool {
        /// The model's own id of the call.
        call_id: String,
        /// The result.
        content: String,
        /// The kind of refusal, if it is one. No server is sent it: a model reads the words, and
        /// the tour, which is code, the kind.
        refusal: Option<RefusalCode>,
    },
}

/// An image as a model is shown it.
#[derive(Clone, PartialEq)]
pub struct Picture {
    /// The picture's name, form and size.
    pub image: Image,
    /// Its bytes as a `data:` address; shared, since requests are made more than once.
    pub url: Arc<str>,
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.image.fmt(f)
    }
}

/// One model request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// System entry first, then the conversation, oldest first.
    pub entries: Vec<Entry>,
    /// The tools the model may call; empty forbids calls.
    pub tools: Vec<SharedSpec>,
    /// The most tokens of the answer, if it is to have fewer than the model may write.
    pub answer_tokens: Option<u32>,
    /// How freely it is to be written; `None`: as its provider does.
    pub temperature: Option<f64>,
    /// A call is wanted and no talk. A model on this machine is held to it; the big ones know when
    /// to talk.
    pub must_call: bool,
    /// True if a provider elsewhere demands that call, too, if it can.
    pub demanded_of_all: bool,
    /// True if text stays text, also if it is written the way a model writes a call.
    pub literal: bool,
    /// True when tasks that fell due began the turn, and no person.
    pub woken: bool,
    /// Counts answers that break off, whose cost nobody else would record.
    pub meter: Meter,
}

impl Request {
    /// How many bytes of text it has, for an estimate of its tokens.
    fn bytes(&self) -> usize {
        let calls = |calls: &[CallRequest]| calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>();
        let entries = self.entries.iter().map(|entry| match entry {
            Entry::System(text) | Entry::User(text) => text.len(),
            Entry::UserWithImages { content, .. } | Entry::Tool { content, .. } => content.len(),
            Entry::Assistant { content, calls: asked } => content.len() + calls(asked),
        });
        let tools = self.tools.iter().map(SharedSpec::bytes);
        entries.sum::<usize>() + tools.sum::<usize>()
    }

    /// The same for a model that cannot see: a line stands for each image.
    fn without_images(mut self) -> Self {
        for entry in &mut self.entries {
            let Entry::UserWithImages { content, images } = entry else { continue };
            for picture in images.iter() {
                content.push_str(&format!("\n[image, {}: this model cannot see images]", picture.image.words()));
            }
            *entry = Entry::User(content.trim_start().to_owned());
        }
        self
    }
}

/// A complete answer. A stream that was cut never becomes one.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The text; may be empty.
    pub content: String,
    /// The tools asked for, in order; ids are unique and not empty.
    pub calls: Vec<CallRequest>,
    /// Why the model stopped, in the provider's word.
    pub finish_reason: String,
    /// Tokens, when the provider said.
    pub usage: Option<Usage>,
    /// Tokens in the bytes that were sent and received, if a provider was asked.
    pub estimate: Option<Usage>,
    /// Which model answered.
    pub model: String,
}

/// Takes pieces of text while an answer is written.
pub type OnDelta<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// Something that answers requests. Dropping the future cancels the request.
pub trait Model: Send + Sync {
    /// Asks, and calls `on_delta` for each piece of text.
    fn answer<'a>(&'a self, request: Request, on_delta: OnDelta<'a>) -> BoxFuture<'a, Result<Answer, ModelError>>;

    /// Which model this is, for the page.
    fn info(&self) -> ModelInfo;

    /// The size of a request this model can take, and whether it sees.
    fn abilities(&self) -> Abilities {
        Abilities::default()
    }

    /// Finds out what there is to know of the model before the first request, once. Waits a moment
    /// at most, and never fails.
    fn prepare(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// The price of a model that answered here, by the name in its answer, if the makers' price is
    /// known.
    fn rate(&self, _answered: &str) -> Option<Rate> {
        None
    }
}

/// The abilities of a model: the size of a request, and pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Tokens that fit into one request together with its answer.
    pub context_tokens: u32,
    /// True if it can see images.
    pub images: bool,
}

impl Default for Abilities {
    /// The least that a model of today has, for one of which nothing is known.
    fn default() -> Self {
        Self { context_tokens: 32 * 1024, images: false }
    }
}

/// Why there is no answer. Each sentence is for the person in front of the page and says what to
/// do.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// The kind of failure.
    pub kind: ModelErrorKind,
    /// The event, and the thing to do about it.
    pub message: String,
    /// How long the server asks to wait, if it does.
    pub wait: Option<Duration>,
}

impl ModelError {
    /// A failure of this kind.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), wait: None }
    }
}

/// Kinds of failure that are treated differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// Nobody answers at the address.
    Unreachable,
    /// 401 or 403.
    Unauthorized,
    /// 402.
    Payment,
    /// 429 after all retries.
    RateLimited,
    /// The request was too long for the model's context.
    ContextOverflow,
    /// Any other refusal of the request, 4xx.
    Refused,
    /// 5xx after all retries.
    Server,
    /// No first token, or a silence, or the connection took too long.
    Timeout,
    /// The stream ended before the answer was complete.
    Cut,
    /// The answer could not be understood.
    Malformed,
}
