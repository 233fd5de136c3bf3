//! Peers to send to: a server that answers what a test wants, byte by byte, over http or https.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use rustls::pki_types::PrivateKeyDer;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_util::task::AbortOnDropHandle;

/// The ways in which a peer treats a request.
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
