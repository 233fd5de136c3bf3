//! The relay's own way to the server: the one the driver would have taken, TLS and certificates as the operator set them.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use sqlx::postgres::{PgConnectOptions, PgSslMode};
use sqlx::{ConnectOptions as _, Error};
use sqlx_core::net::tls::{self, CertificateInput, TlsConfig};
use sqlx_core::net::{self, Socket, SocketIntoBox, WithSocket};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// "I would like to speak TLS", as a client may begin; the server answers `S` or `N`.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F];

/// The address of a server, and how to speak to it.
#[derive(Clone, Debug)]
pub(super) struct Upstream {
    socket: Option<PathBuf>,
    host: String,
    port: u16,
    mode: PgSslMode,
    root: Option<CertificateInput>,
    certificate: Option<CertificateInput>,
    key: Option<CertificateInput>,
}

impl Upstream {
    /// The server of these options.
    pub(super) fn of(options: &PgConnectOptions) -> Self {
        let host = options.get_host();
        let folder = options.get_socket().cloned().or_else(|| host.starts_with('/').then(|| host.into()));
        // The options tell the certificates only as parts of an address; names that do not fit into one are kept out of it.
        let told = options.clone().username("x").host("localhost").to_url_lossy();
        let certificate = |name: &str| {
            let (_, value) = told.query_pairs().find(|(found, _)| found == name)?;
            let file = value.strip_prefix("file: ").map(|path| CertificateInput::File(path.into()));
            Some(file.unwrap_or_else(|| CertificateInput::Inline(value.as_bytes().to_vec())))
        };
        Self {
            socket: folder.map(|folder| folder.join(format!(".s.PGSQL.{}", options.get_port()))),
            host: host.to_owned(),
            port: options.get_port(),
            mode: options.get_ssl_mode(),
            root: certificate("sslrootcert"),
            certificate: certificate("sslcert"),
            key: certificate("sslkey"),
        }
    }

    pub(super) async fn connect(&self) -> Result<Stream, Error> {
        let secured = match &self.socket {
            Some(path) => net::connect_uds(path, Secured(self)).await?,
            None => net::connect_tcp(&self.host, self.port, Secured(self)).await?,
        };
        secured.map(Stream)
    }

    /// Secures a connection as `sslmode` says, read as the driver reads it.
    async fn secure<S: Socket>(&self, mut socket: S) -> Result<Box<dyn Socket>, Error> {
        let must = match self.mode {
            PgSslMode::Allow | PgSslMode::Disable => return Ok(Box::new(socket)),
            PgSslMode::Prefer => false,
            PgSslMode::Require | PgSslMode::VerifyCa | PgSslMode::VerifyFull => true,
        };
        let mut asking = &TLS_REQUEST[..];
        while !asking.is_empty() {
            let written = socket.write(asking).await?;
            asking = &asking[written..];
        }
        let mut answer = [0];
        socket.read(&mut &mut answer[..]).await?;
        match answer[0] {
            b'S' => {}
            b'N' if must => return Err(Error::Tls("the server does not speak TLS".into())),
            b'N' => return Ok(Box::new(socket)),
            other => return Err(Error::Protocol(format!("the server answered {other:#04x} to a request for TLS"))),
        }
        let config = TlsConfig {
            accept_invalid_certs: !matches!(self.mode, PgSslMode::VerifyCa | PgSslMode::VerifyFull),
            accept_invalid_hostnames: !matches!(self.mode, PgSslMode::VerifyFull),
            hostname: &self.host,
            root_cert_path: self.root.as_ref(),
            client_cert_path: self.certificate.as_ref(),
            client_key_path: self.key.as_ref(),
        };
        tls::handshake(socket, config, SocketIntoBox).await
    }
}

/// Makes a socket one that is fit to be used.
struct Secured<'a>(&'a Upstream);

impl WithSocket for Secured<'_> {
    type Output = Result<Box<dyn Socket>, Error>;

    async fn with_socket<S: Socket>(self, socket: S) -> Self::Output {
        self.0.secure(socket).await
    }
}

/// A connection of the driver's kind, as tokio reads and writes.
pub(super) struct Stream(Box<dyn Socket>);

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut free = buffer.initialize_unfilled();
        loop {
            match self.0.try_read(&mut free) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready!(self.0.poll_read_ready(cx))?,
                Err(error) => return Poll::Ready(Err(error)),
                Ok(read) => {
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            match self.0.try_write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready!(self.0.poll_write_ready(cx))?,
                done => return Poll::Ready(done),
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::ServerConfig;
    use rustls::pki_types::PrivateKeyDer;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;

    /// A server of `localhost` that says back what it hears, over TLS if that is asked for and it
    /// has a certificate. Its address, and the certificate.
    async fn server(speaks_tls: bool) -> (u16, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_no_client_auth().with_single_cert(vec![made.cert.der().clone()], key).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let acceptor = TlsAcceptor::from(Arc::new(config));
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                let mut asked = [0; 8];
                client.read_exact(&mut asked).await.unwrap();
                if asked != TLS_REQUEST {
                    client.write_all(&asked).await.unwrap();
                } else if !speaks_tls {
                    client.write_all(b"N").await.unwrap();
                    client.read_exact(&mut asked).await.unwrap_or_default();
                    let _ = client.write_all(&asked).await;
                } else {
                    client.write_all(b"S").await.unwrap();
                    // A client that does not trust us ends here.
                    let Ok(mut client) = acceptor.accept(client).await else { continue };
                    client.read_exact(&mut asked).await.unwrap();
                    client.write_all(&asked).await.unwrap();
                    client.flush().await.unwrap();
                }
            }
        });
        (port, made.cert.pem())
    }

    async fn hears_itself(options: PgConnectOptions) -> bool {
        let Ok(mut stream) = Upstream::of(&options).connect().await else { return false };
        stream.write_all(b"12345678").await.unwrap();
        stream.flush().await.unwrap();
        let mut heard = [0; 8];
        stream.read_exact(&mut heard).await.unwrap();
        heard == *b"12345678"
    }

    #[tokio::test]
    async fn the_relay_speaks_tls_as_the_driver_would_have() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let ((port, root), (plain, _)) = (server(true).await, server(false).await);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("root.pem");
        std::fs::write(&file, &root).unwrap();
        let stranger = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap().cert.pem();
        // A name that is no part of an address, as roles may have.
        let at =
            |host: &str, port| PgConnectOptions::new_without_pgpass().host(host).port(port).username("a@b/c d").password("p#%");
        let to = |host: &str, mode| at(host, port).ssl_mode(mode);
        for (options, comes_through) in [
            (to("localhost", PgSslMode::Prefer), true),
            (to("localhost", PgSslMode::Require), true),
            (to("localhost", PgSslMode::VerifyFull), false),
            (to("localhost", PgSslMode::VerifyFull).ssl_root_cert(&file), true),
            (to("localhost", PgSslMode::VerifyFull).ssl_root_cert_from_pem(root.clone().into_bytes()), true),
            (to("localhost", PgSslMode::VerifyFull).ssl_root_cert_from_pem(stranger.into_bytes()), false),
            (to("127.0.0.1", PgSslMode::VerifyFull).ssl_root_cert(&file), false),
            (to("127.0.0.1", PgSslMode::VerifyCa).ssl_root_cert(&file), true),
            (at("localhost", plain).ssl_mode(PgSslMode::Prefer), true),
            (at("localhost", plain).ssl_mode(PgSslMode::Disable), true),
            (at("localhost", plain).ssl_mode(PgSslMode::Require), false),
        ] {
            let what = format!("{options:?}");
            assert_eq!(hears_itself(options).await, comes_through, "{what}");
        }
    }
}
