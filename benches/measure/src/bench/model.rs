//! A model that answers at once: a server of OpenAI's streaming protocol on loopback, a thread for
//! each connection. It is in this process, so that its times can be compared with the client's.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use serde_json::{Value, json};

use super::script::{self, Answer, TOKENS};

/// The model's server; it ends with the process.
pub struct Model {
    pub address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
}

/// The last request, and the times at which the model worked on it.
#[derive(Default)]
pub struct Seen {
    /// The request's body.
    pub request: Vec<u8>,
    /// The time at which it was there.
    pub arrived: Option<Instant>,
    /// The times at which the tokens of the answer were written, if there are several.
    pub written: Vec<Instant>,
}

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

impl Model {
    /// Listens on a free port.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let seen: Arc<Mutex<Seen>> = Arc::default();
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&shared);
                // A connection that breaks is the server's own affair: it is killed in the middle
                // here.
                std::thread::spawn(move || drop(serve(stream, &seen)));
            }
        });
        Self { address, seen }
    }

    /// As `LLM_BASE_URL` has it.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The last request.
    pub fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("nobody panics with it")
    }
}

fn serve(mut stream: TcpStream, seen: &Mutex<Seen>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some((first, body)) = request(&mut reader)? {
        if !first.starts_with("POST") {
            let list = json!({"data": [{"id": "scripted", "object": "model"}]}).to_string();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", list.len());
            stream.write_all((head + &list).as_bytes())?;
            continue;
        }
        let arrived = Instant::now();
        let answer = script::answer(&body);
        {
            let mut seen = seen.lock().expect("nobody panics with it");
            *seen = Seen { request: body, arrived: Some(arrived), written: Vec::new() };
        }
        match answer {
            Answer::Word => stream.write_all(whole(&[json!({"content": "Hello."})], "stop").as_bytes())?,
            Answer::Calls(calls) => stream.write_all(whole(&[asks(&calls)], "tool_calls").as_bytes())?,
            // The asker closes the connection.
            Answer::Nothing => return reader.fill_buf().map(drop),
            Answer::Tokens(pace) => {
                let mut due = Instant::now();
                for number in 0..TOKENS {
                    if let Some(pace) = pace {
                        due += pace;
                        std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    }
                    let piece = sse(&json!({"index": 0, "delta": {"content": format!("t{number} ")}}));
                    let head = if number == 0 { HEAD } else { "" };
                    seen.lock().expect("nobody panics with it").written.push(Instant::now());
                    stream.write_all(format!("{head}{}", chunk(&piece)).as_bytes())?;
                }
                stream.write_all((chunk(&end("stop")) + "0\r\n\r\n").as_bytes())?;
            }
        }
    }
    Ok(())
}

/// The first line and the body of the next request; `None` at the end of the connection.
fn request(reader: &mut impl BufRead) -> std::io::Result<Option<(String, Vec<u8>)>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        assert!(!name.eq_ignore_ascii_case("transfer-encoding"), "a request of unknown length");
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((first, body)))
}

fn asks(calls: &[(String, Value)]) -> Value {
    let call = |(index, (name, arguments)): (usize, &(String, Value))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"index": index, "id": format!("call_{index}"), "type": "function", "function": function})
    };
    json!({"role": "assistant", "tool_calls": calls.iter().enumerate().map(call).collect::<Vec<_>>()})
}

/// A whole answer, to be written at once.
fn whole(deltas: &[Value], reason: &str) -> String {
    let deltas: String = deltas.iter().map(|delta| sse(&json!({"index": 0, "delta": delta}))).collect();
    format!("{HEAD}{}0\r\n\r\n", chunk(&(deltas + &end(reason))))
}

fn end(reason: &str) -> String {
    sse(&json!({"index": 0, "delta": {}, "finish_reason": reason})) + "data: [DONE]\n\n"
}

fn sse(choice: &Value) -> String {
    let told = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]});
    format!("data: {told}\n\n")
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}
