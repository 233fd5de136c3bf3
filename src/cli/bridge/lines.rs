//! The lines of the other agent: a message each. A line that is none is refused here, by the id of
//! each request in it, since nothing else would ever answer that request.

use rmcp::model::{ClientJsonRpcMessage, ErrorData, RequestId, ServerJsonRpcMessage};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use crate::domain::faithful;
use crate::wire::MAX_MCP_BYTES;

const BATCH: &str = "level3 takes no batches: send each message on a line of its own";
const NO_MESSAGE: &str = "this is no message of JSON-RPC 2.0 with an `id` that is a text or a whole number";

/// The content of a line.
pub(super) enum Line {
    Message(Box<ClientJsonRpcMessage>),
    /// The answers to the requests in it, which are not carried.
    Refused(Vec<ServerJsonRpcMessage>),
}

/// Reads lines. Each is read whole, whatever its length, because its id may stand at its end: the
/// program that sends it has started this one.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
}

/// As much of a message as it takes to answer it.
#[derive(Deserialize)]
struct Heard {
    id: Option<RequestId>,
    method: Option<IgnoredAny>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input: BufReader::new(input), line: Vec::new() }
    }

    /// The next line that says anything; `None` at the end. The last line may lack its end, and
    /// counts all the same. If the future is dropped, the next one goes on within the line.
    pub(super) async fn next(&mut self) -> Option<Line> {
        loop {
            let read = self.input.read_until(b'\n', &mut self.line).await;
            if read.is_err() || self.line.is_empty() {
                return None;
            }
            let line = std::mem::take(&mut self.line);
            if let Some(line) = read_line(&line) {
                return Some(line);
            }
        }
    }
}

/// The message of a line; `None` if nobody waits for an answer to it, as to a text that is no JSON.
fn read_line(line: &[u8]) -> Option<Line> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.len() > MAX_MCP_BYTES {
        let why = format!("the request has {} bytes; {MAX_MCP_BYTES} is the most", line.len());
        return refused(line, &ErrorData::invalid_request(why, None));
    }
    match serde_json::from_slice(line) {
        // It is carried as it is read.
        Ok(message) => match faithful(&String::from_utf8_lossy(line)) {
            Ok(()) => Some(Line::Message(Box::new(message))),
            Err(why) => refused(line, &ErrorData::invalid_params(why, None)),
        },
        Err(_) if line.starts_with(b"[") => refused(line, &ErrorData::invalid_request(BATCH, None)),
        Err(_) => refused(line, &ErrorData::invalid_request(NO_MESSAGE, None)),
    }
}

fn refused(line: &[u8], why: &ErrorData) -> Option<Line> {
    let heard: Vec<Heard> = match line.first() {
        Some(b'[') => serde_json::from_slice(line).ok()?,
        _ => vec![serde_json::from_slice(line).ok()?],
    };
    let error = |id| ServerJsonRpcMessage::error(why.clone(), id);
    let errors: Vec<_> = heard.into_iter().filter(Heard::waits).map(|heard| error(heard.id)).collect();
    (!errors.is_empty()).then_some(Line::Refused(errors))
}

impl Heard {
    /// False for a notification, and for an answer.
    fn waits(&self) -> bool {
        let notifies = self.method.is_some() && self.id.is_none();
        !notifies && self.result.is_none() && self.error.is_none()
    }
}
