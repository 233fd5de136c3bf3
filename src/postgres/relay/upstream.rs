//! The relay's own way to the server: the one the driver would have taken, TLS and certificates as
//! the operator set them.

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
        // The options tell the certificates only as parts of an address; names that do not fit into
        // one are kept out of it.
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
mod tests;
