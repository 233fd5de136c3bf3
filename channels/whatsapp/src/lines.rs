//! The lines themselves: stdin becomes orders, reports become stdout.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::sync::mpsc;

use crate::protocol::{self, LONGEST_LINE, Order, Report};

/// A line from level3, read.
#[derive(Debug)]
pub enum Heard {
    /// An order.
    Order(Order),
    /// A line that is no order of this version: the program has to end.
    Wrong(String),
}

/// Reads orders until the input ends, one at a time. The end of the input is the end of the
/// channel.
pub fn orders(input: impl AsyncRead + Unpin + Send + 'static) -> mpsc::Receiver<Heard> {
    let (heard, orders) = mpsc::channel(64);
    tokio::spawn(async move {
        let mut input = BufReader::new(input);
        loop {
            let mut line = Vec::new();
            match (&mut input).take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let heard_now = order(&line);
            let wrong = matches!(heard_now, Heard::Wrong(_));
            if heard.send(heard_now).await.is_err() || wrong {
                return;
            }
        }
    });
    orders
}

fn order(line: &[u8]) -> Heard {
    if line.len() > LONGEST_LINE {
        return Heard::Wrong(format!("a line has more than {LONGEST_LINE} bytes"));
    }
    let read = std::str::from_utf8(line).map_err(|error| format!("a line is no UTF-8: {error}")).and_then(protocol::read);
    read.map_or_else(Heard::Wrong, Heard::Order)
}

/// The way to level3. Each report is written and flushed at once, so what was said is said even if
/// the program dies right after.
#[derive(Clone)]
pub struct Reports(Arc<Mutex<dyn Write + Send>>);

impl Reports {
    /// Reports to this output.
    pub fn to(output: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(output)))
    }

    /// Says it. If level3 does not listen any more, our input ends as well, and that ends the
    /// program.
    pub fn say(&self, report: &Report) {
        let mut line = serde_json::to_vec(report).unwrap_or_default();
        line.push(b'\n');
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = output.write_all(&line).and_then(|()| output.flush());
    }
}

#[cfg(test)]
mod tests;
