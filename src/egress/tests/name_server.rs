//! A name server under the attacker's control, and a resolver that asks it every time. Stories of
//! the whole server use this file, too.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::net::UdpSocket;
use tokio_util::task::AbortOnDropHandle;

use super::Resolve;

/// A name server on loopback. The first question gets the first list of addresses, the last list is
/// for all that follow.
pub struct NameServer {
    pub address: SocketAddr,
    questions: Arc<AtomicUsize>,
    _task: AbortOnDropHandle<()>,
}

impl NameServer {
    pub async fn answering(rounds: &[&[&str]]) -> Self {
        let rounds: Vec<Vec<IpAddr>> = rounds.iter().map(|round| round.iter().map(|ip| ip.parse().unwrap()).collect()).collect();
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let questions = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&questions);
        let task = tokio::spawn(async move {
            let mut question = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut question).await {
                let round = counted.fetch_add(1, Ordering::SeqCst).min(rounds.len() - 1);
                let _ = socket.send_to(&response(&question[..length], &rounds[round]), from).await;
            }
        });
        Self { address, questions, _task: AbortOnDropHandle::new(task) }
    }

    /// How often it was asked.
    pub fn questions(&self) -> usize {
        self.questions.load(Ordering::SeqCst)
    }
}

/// The question repeated, and a record of time to live 0 for each address (RFC 1035, section 4).
fn response(question: &[u8], addresses: &[IpAddr]) -> Vec<u8> {
    let mut bytes = question.to_vec();
    bytes[2..4].copy_from_slice(&[0x81, 0x80]);
    bytes[6..8].copy_from_slice(&u16::try_from(addresses.len()).unwrap().to_be_bytes());
    for address in addresses {
        let (kind, data) = match address {
            IpAddr::V4(ip) => (1_u8, ip.octets().to_vec()),
            IpAddr::V6(ip) => (28, ip.octets().to_vec()),
        };
        bytes.extend_from_slice(&[0xc0, 0x0c, 0, kind, 0, 1, 0, 0, 0, 0, 0, u8::try_from(data.len()).unwrap()]);
        bytes.extend_from_slice(&data);
    }
    bytes
}

/// Asks a name server for all addresses of a name, with nothing kept from one question to the next.
pub struct AsksAnew(pub SocketAddr);

impl Resolve for AsksAnew {
    fn resolve(&self, host: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let (server, host) = (self.0, host.to_owned());
        Box::pin(async move {
            let mut question = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
            for label in host.split('.') {
                question.push(u8::try_from(label.len()).unwrap());
                question.extend_from_slice(label.as_bytes());
            }
            // The end of the name; any type, class IN.
            question.extend_from_slice(&[0, 0, 255, 0, 1]);
            let socket = UdpSocket::bind("127.0.0.1:0").await?;
            socket.send_to(&question, server).await?;
            let mut answer = [0; 512];
            let length = tokio::time::timeout(Duration::from_secs(5), socket.recv(&mut answer)).await??;
            let mut records = &answer[question.len()..length];
            let mut addresses = Vec::new();
            while let [_, _, _, kind, _, _, _, _, _, _, _, size, rest @ ..] = records {
                let (data, next) = rest.split_at(usize::from(*size));
                addresses.push(match kind {
                    1 => IpAddr::from(<[u8; 4]>::try_from(data).unwrap()),
                    _ => IpAddr::from(<[u8; 16]>::try_from(data).unwrap()),
                });
                records = next;
            }
            Ok(addresses)
        })
    }
}
