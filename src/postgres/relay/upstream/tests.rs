//! Tests of `postgres::relay::upstream`.

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
    let at = |host: &str, port| PgConnectOptions::new_without_pgpass().host(host).port(port).username("a@b/c d").password("p#%");
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
