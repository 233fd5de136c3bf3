//! Peers to send to: a server that answers what a test wants, byte by byte, over http or https; and a name server.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio_rustls::TlsAcceptor;
use tokio_util::task::AbortOnDropHandle;

use super::super::Resolve;

/// What a peer does with a request.
pub enum Answer {
    /// Writes these bytes and ends.
    Say(Vec<u8>),
    /// Writes these bytes and goes on holding the connection.
    Hold(Vec<u8>),
    /// Resets the connection.
    Reset,
}

/// A response with this status line, headers and body; the length is added.
pub fn reply(status: &str, headers: &[&str], body: &str) -> Answer {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    Answer::Say(format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes())
}

/// A server on loopback.
pub struct Peer {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
    _task: AbortOnDropHandle<()>,
}

impl Peer {
    /// Over http on 127.0.0.1.
    pub async fn http(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", None, answer).await
    }

    /// Over https on 127.0.0.1, as `api.example` and `other.example`.
    pub async fn https(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", Some(&identity().server), answer).await
    }

    /// At an address of the test's choice, over https when `tls` is given.
    pub async fn at(
        address: &str,
        tls: Option<&Arc<ServerConfig>>,
        answer: impl Fn(&str) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self::on(TcpListener::bind(address).await.unwrap(), tls, answer)
    }

    /// At an address that was taken already.
    pub fn on(
        listener: TcpListener,
        tls: Option<&Arc<ServerConfig>>,
        answer: impl Fn(&str) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let address = listener.local_addr().unwrap();
        let (connections, requests) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let (counted, kept) = (Arc::clone(&connections), Arc::clone(&requests));
        let (acceptor, answer) = (tls.cloned().map(TlsAcceptor::from), Arc::new(answer));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let (kept, answer, acceptor) = (Arc::clone(&kept), Arc::clone(&answer), acceptor.clone());
                tokio::spawn(async move {
                    match acceptor {
                        Some(acceptor) => {
                            let Ok(mut stream) = acceptor.accept(stream).await else { return };
                            let _ = serve(&mut stream, &kept, &*answer).await;
                        }
                        None => plain(stream, &kept, &*answer).await,
                    }
                });
            }
        });
        Self { address, connections, requests, _task: AbortOnDropHandle::new(task) }
    }

    /// `http://127.0.0.1:port` and the path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The address under another name.
    pub fn named(&self, scheme: &str, host: &str, path: &str) -> String {
        format!("{scheme}://{host}:{}{path}", self.address.port())
    }

    /// How many connections were opened.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The requests as they were read.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    /// The only request.
    pub fn request(&self) -> String {
        let requests = self.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests[0].clone()
    }
}

async fn plain(mut stream: TcpStream, kept: &Mutex<Vec<String>>, answer: &(dyn Fn(&str) -> Answer + Send + Sync)) {
    if let Ok(true) = serve(&mut stream, kept, answer).await {
        stream.set_zero_linger().unwrap();
    }
}

/// Reads a request and answers; true when the connection is to be reset.
async fn serve<T: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut T,
    kept: &Mutex<Vec<String>>,
    answer: &(dyn Fn(&str) -> Answer + Send + Sync),
) -> io::Result<bool> {
    let mut read = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).await?;
        read.extend_from_slice(&piece[..length]);
        if length == 0 || is_whole(&read) {
            break;
        }
    }
    if read.is_empty() {
        return Ok(false);
    }
    let request = String::from_utf8_lossy(&read).into_owned();
    kept.lock().unwrap().push(request.clone());
    match answer(&request) {
        Answer::Say(bytes) => {
            stream.write_all(&bytes).await?;
            stream.shutdown().await?;
        }
        Answer::Hold(bytes) => {
            stream.write_all(&bytes).await?;
            stream.flush().await?;
            // Ends when the other side does.
            while stream.read(&mut [0; 64]).await? > 0 {}
        }
        Answer::Reset => return Ok(true),
    }
    Ok(false)
}

fn is_whole(read: &[u8]) -> bool {
    let text = String::from_utf8_lossy(read);
    let Some((head, _)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:").map(str::to_owned));
    read.len() >= head.len() + 4 + length.map_or(0, |length| length.trim().parse().unwrap())
}

struct Identity {
    server: Arc<ServerConfig>,
    client: Arc<ClientConfig>,
}

fn identity() -> &'static Identity {
    static IDENTITY: OnceLock<Identity> = OnceLock::new();
    IDENTITY.get_or_init(|| {
        let made = rcgen::generate_simple_self_signed(["api.example".to_owned(), "other.example".to_owned()]).unwrap();
        let certificate = made.cert.der().clone();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let server = ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions().unwrap();
        let client = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        Identity {
            server: Arc::new(server.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap()),
            client: Arc::new(client.with_root_certificates(roots).with_no_client_auth()),
        }
    })
}

/// A client that trusts the peers of these tests.
pub fn trusting() -> Arc<ClientConfig> {
    Arc::clone(&identity().client)
}

/// A name server on loopback. The first question gets the first list of addresses, the last list is for all that follow.
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
