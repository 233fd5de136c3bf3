//! Reads one response to its end: a stream of events, or a whole reply from a server that does not
//! stream.

use std::time::Duration;

use reqwest::Response;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::assemble::Assembly;
use super::limits::ModelLimits;
use super::refusal::RefusingServer;
use super::rescue::lenient;
use super::retry::{Again, FailedAttempt};
use super::stream::{EventReader, Found};
use super::{Answer, ModelErrorKind as Kind, OnDelta};
use crate::store::Attempt;

/// How long the end of a body may take after its last word.
const REST: Duration = Duration::from_secs(1);
/// How many bytes may come in that time.
const MOST_REST: usize = 4 << 10;

/// The deadlines of one attempt.
#[derive(Clone, Copy)]
pub(super) struct AttemptDeadlines {
    first_token: Instant,
    whole: Instant,
    last_life: Instant,
    /// True in the middle of something that is to be read: a server that is slow is not silent.
    flowing: bool,
}

impl AttemptDeadlines {
    /// Begins to count. A reply that comes as a whole has no first token to wait for.
    pub(super) fn starting(now: Instant, limits: &ModelLimits, streamed: bool) -> Self {
        let first_token = if streamed { limits.first_token } else { limits.whole };
        Self { first_token: now + first_token, whole: now + limits.whole, last_life: now, flowing: false }
    }

    /// When the first token must be here.
    pub(super) fn first_token(&self) -> Instant {
        self.first_token.min(self.whole)
    }
}

/// One attempt that has got a response.
pub(super) struct ResponseReader<'a> {
    pub(super) peer: RefusingServer<'a>,
    /// Counts what comes.
    pub(super) attempt: &'a Attempt,
    pub(super) limits: &'a ModelLimits,
    pub(super) assembly: Assembly,
    pub(super) on_delta: OnDelta<'a>,
    pub(super) watch: AttemptDeadlines,
}

/// The forms a body can turn out to have.
enum Form {
    Unknown,
    Events(EventReader),
    Whole,
}

impl ResponseReader<'_> {
    /// Reads to the end of the answer.
    pub(super) async fn read(mut self, mut response: Response) -> Result<Answer, FailedAttempt> {
        let mut form = Form::Unknown;
        // The bytes that came before the form was known, or all of a whole reply.
        let mut kept = Vec::new();
        let mut total = 0;
        loop {
            let piece = match timeout_at(self.deadline(), response.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                Ok(Ok(None)) => break,
                // After the end nothing that goes wrong matters.
                _ if self.assembly.finished() => break,
                Ok(Err(_)) => return Err(self.cut()),
                Err(_) => return Err(self.silent()),
            };
            total += piece.len();
            if total > self.limits.wire_bytes {
                return Err(self.malformed("it does not end"));
            }
            let done = match &mut form {
                Form::Events(reader) => self.events(reader, &piece)?,
                Form::Whole => {
                    kept.extend_from_slice(&piece);
                    false
                }
                Form::Unknown => {
                    kept.extend_from_slice(&piece);
                    form = form_of(&mut kept, self.limits.answer_bytes);
                    match &mut form {
                        Form::Events(reader) => self.events(reader, &std::mem::take(&mut kept))?,
                        Form::Whole | Form::Unknown => false,
                    }
                }
            };
            if done {
                if !self.assembly.cut_short() {
                    read_out(response);
                }
                break;
            }
            if kept.len() > self.limits.answer_bytes {
                return Err(self.malformed(&format!("it is longer than {} bytes", self.limits.answer_bytes)));
            }
            self.look_at_the_clock(&form)?;
        }
        match form {
            Form::Events(mut reader) => {
                let mut found = Vec::new();
                reader.end(&mut found).map_err(|error| self.malformed(&error.to_string()))?;
                self.take(&mut found)?;
                self.end()
            }
            Form::Whole => self.whole(&kept),
            Form::Unknown => Err(self.cut()),
        }
    }

    /// Takes the next bytes of a stream; true when there will be no more.
    fn events(&mut self, reader: &mut EventReader, bytes: &[u8]) -> Result<bool, FailedAttempt> {
        let mut found = Vec::new();
        let read = reader.push(bytes, &mut found);
        let done = self.take(&mut found)?;
        read.map_err(|error| self.malformed(&error.to_string()))?;
        Ok(done)
    }

    /// A server that is slow is not silent; one that never stops sending, and says nothing, is.
    fn look_at_the_clock(&mut self, form: &Form) -> Result<(), FailedAttempt> {
        self.watch.flowing = match form {
            Form::Unknown => false,
            Form::Events(reader) => reader.inside_object(),
            Form::Whole => true,
        };
        let now = Instant::now();
        if self.watch.flowing {
            self.watch.last_life = now;
        }
        if now > self.deadline() && !self.assembly.finished() { Err(self.silent()) } else { Ok(()) }
    }

    fn deadline(&self) -> Instant {
        let AttemptDeadlines { first_token, whole, last_life, flowing } = self.watch;
        let next = if self.assembly.finished() {
            last_life + self.limits.after_end
        } else if self.assembly.started() {
            last_life + self.limits.silence
        } else if flowing {
            first_token.max(last_life + self.limits.silence)
        } else {
            first_token
        };
        next.min(whole)
    }

    /// Takes events; true when there will be no more.
    fn take(&mut self, found: &mut Vec<Found>) -> Result<bool, FailedAttempt> {
        for event in found.drain(..) {
            match event {
                Found::Done => return Ok(true),
                Found::Object(chunk) => self.add(&chunk)?,
            }
            if self.assembly.cut_short() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn add(&mut self, chunk: &Value) -> Result<(), FailedAttempt> {
        if let Some(mut failure) = self.peer.error_inside(chunk) {
            if self.assembly.started() {
                failure.again = Again::Never;
                failure.within_stream = failure.error.kind == Kind::Server;
            }
            return Err(failure);
        }
        // Only events count as life: a stuck proxy may send comments for ever.
        self.watch.last_life = Instant::now();
        let added = self.assembly.add(chunk);
        self.attempt.received(self.assembly.received(), self.assembly.usage());
        if let Some(text) = added? {
            (self.on_delta)(&text);
        }
        Ok(())
    }

    fn whole(mut self, bytes: &[u8]) -> Result<Answer, FailedAttempt> {
        if bytes.trim_ascii_start().starts_with(b"<") {
            return Err(self.malformed(&format!("it is a web page; {} ends in /v1 for most servers", self.peer.address_variable)));
        }
        let reply: Value = match lenient::parse(&String::from_utf8_lossy(bytes)) {
            Ok(reply) => reply,
            Err(error) if error.is_eof() => return Err(self.cut()),
            Err(_) => return Err(self.malformed("it is broken JSON")),
        };
        let reply = if reply.is_array() { &reply[0] } else { &reply };
        self.add(reply)?;
        if !self.assembly.finished() && reply["choices"][0]["message"].is_object() {
            // The reply is whole, so nothing was cut.
            self.assembly.finish_as("stop");
        }
        if !self.assembly.finished() {
            let variable = self.peer.address_variable;
            return Err(self.malformed(&format!("it has no `choices`; {variable} ends in /v1 for most servers")));
        }
        self.end()
    }

    fn end(self) -> Result<Answer, FailedAttempt> {
        let cut = self.cut();
        let estimate = self.attempt.usage();
        // A provider counts at an end that this side did not wait for.
        let ended_here = estimate.filter(|_| self.assembly.cut_short());
        let answer = self.assembly.finish(self.peer.model).ok_or(cut)?;
        Ok(Answer { usage: answer.usage.or(ended_here), estimate, ..answer })
    }

    fn cut(&self) -> FailedAttempt {
        let message = format!("The answer of `{}` broke off before its end; nothing in it was run.", self.peer.model);
        self.passing(Kind::Cut, message)
    }

    fn silent(&self) -> FailedAttempt {
        if self.watch.whole < Instant::now() {
            let (model, limit) = (self.peer.model, self.limits.whole.as_secs_f32());
            let message = format!("The answer of `{model}` had no end after {limit} seconds; nothing in it was run.");
            return FailedAttempt::last(Kind::Timeout, message);
        }
        if !self.assembly.started() {
            return self.peer.no_first_token(self.limits.first_token);
        }
        let message = format!("The model `{}` stopped in the middle of its answer; nothing in it was run.", self.peer.model);
        self.passing(Kind::Timeout, message)
    }

    /// May be tried again as long as nothing of an answer has come.
    fn passing(&self, kind: Kind, message: String) -> FailedAttempt {
        let again = if self.assembly.started() { Again::Never } else { Again::Later(None) };
        FailedAttempt { again, ..FailedAttempt::last(kind, message) }
    }

    fn malformed(&self, why: &str) -> FailedAttempt {
        FailedAttempt::last(Kind::Malformed, format!("The answer of {} could not be read: {why}.", self.peer.address))
    }
}

impl RefusingServer<'_> {
    /// The model took the request and said nothing.
    pub(super) fn no_first_token(&self, waited: Duration) -> FailedAttempt {
        let message = format!(
            "The model `{}` at {} said nothing within {} seconds: try a smaller one with LLM_MODEL, or a shorter conversation.",
            self.model,
            self.address,
            waited.as_secs_f32()
        );
        FailedAttempt { again: Again::Once, ..FailedAttempt::last(Kind::Timeout, message) }
    }
}

/// Reads a body that has said its last word to its end, beside what follows: only then can the
/// connection take the next request. A body that goes on loses its connection.
fn read_out(mut response: Response) {
    tokio::spawn(async move {
        let rest = async {
            let mut left = MOST_REST;
            while let Ok(Some(piece)) = response.chunk().await {
                match left.checked_sub(piece.len()) {
                    Some(less) => left = less,
                    None => return,
                }
            }
        };
        let _ = tokio::time::timeout(REST, rest).await;
    });
}

/// Told by the first visible byte: a server's content type is not to be trusted. Bytes before it
/// that are not visible go.
fn form_of(bytes: &mut Vec<u8>, max_line: usize) -> Form {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let marked = bytes.strip_prefix(MARK).unwrap_or(bytes);
    let blank = bytes.len() - marked.trim_ascii_start().len();
    bytes.drain(..blank);
    match bytes.first() {
        None => Form::Unknown,
        Some(_) if bytes.len() < MARK.len() && MARK.starts_with(bytes) => Form::Unknown,
        Some(b'{' | b'[' | b'<') => Form::Whole,
        Some(_) => Form::Events(EventReader::new(max_line)),
    }
}
