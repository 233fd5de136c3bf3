//! Which server the program connects to: WhatsApp's, always. A build for the tests may name one on
//! loopback instead.

use std::time::Duration;

use whatsapp_rust_ureq_http_client::UreqHttpClient;

/// The most bytes of one answer over HTTP: a file of the largest size that is downloaded, and a
/// margin.
const LARGEST_ANSWER: u64 = 20 << 20;

/// The server.
#[derive(Clone, Debug)]
pub struct Server {
    #[cfg(feature = "test-server")]
    url: Option<String>,
    minute: Duration,
}

impl Server {
    /// How long a pause of a minute takes.
    pub fn minute(&self) -> Duration {
        self.minute
    }
}

#[cfg(not(feature = "test-server"))]
impl Server {
    /// WhatsApp's server.
    ///
    /// # Errors
    /// None in this build.
    pub fn choose() -> Result<Self, String> {
        Ok(Self { minute: Duration::from_secs(60) })
    }

    /// The client for files.
    pub fn http(&self) -> UreqHttpClient {
        UreqHttpClient::new().with_max_body_bytes(LARGEST_ANSWER)
    }
}

#[cfg(feature = "test-server")]
mod test_server {
    use async_trait::async_trait;
    use whatsapp_rust::http::{HttpClient, HttpRequest, HttpResponse};
    use whatsapp_rust::transport::TokioWebSocketTransportFactory;
    use whatsapp_rust::wacore::net::{StreamingHttpResponse, UploadBody};

    use super::{Duration, LARGEST_ANSWER, Server, UreqHttpClient};

    impl Server {
        /// The server that the environment names, on loopback; WhatsApp's if it names none.
        ///
        /// # Errors
        /// The variable names another machine.
        pub fn choose() -> Result<Self, String> {
            let url = std::env::var("LEVEL3_WHATSAPP_SERVER").ok();
            if let Some(url) = &url
                && !url.strip_prefix("ws://127.0.0.1:").is_some_and(begins_with_port)
            {
                return Err(format!("LEVEL3_WHATSAPP_SERVER is `{url}`: expected ws://127.0.0.1:PORT/…"));
            }
            let minute = std::env::var("LEVEL3_WHATSAPP_MINUTE_MS").ok().and_then(|text| text.parse().ok());
            Ok(Self { url, minute: Duration::from_millis(minute.unwrap_or(60_000)) })
        }

        /// The client for files.
        pub fn http(&self) -> Http {
            Http(UreqHttpClient::new().with_max_body_bytes(LARGEST_ANSWER))
        }

        /// The way to the server.
        pub fn transport(&self) -> TokioWebSocketTransportFactory {
            let factory = TokioWebSocketTransportFactory::new();
            self.url.iter().fold(factory, |factory, url| factory.with_url(url.clone()))
        }

        /// A version of WhatsApp Web, so that nobody is asked for the newest one.
        pub fn version(&self) -> Option<(u32, u32, u32)> {
            self.url.as_ref().map(|_| (2, 3000, 0))
        }
    }

    /// The client for files, without TLS on loopback: the library makes every address of a file
    /// `https`.
    pub struct Http(UreqHttpClient);

    /// True if a port alone stands before the path. An `@` there would make all that is before it a
    /// user's name, and what follows the host.
    fn begins_with_port(rest: &str) -> bool {
        let port = rest.split('/').next().unwrap_or_default();
        port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
    }

    fn plain(mut request: HttpRequest) -> HttpRequest {
        if let Some(rest) = request.url.strip_prefix("https://127.0.0.1:").filter(|rest| begins_with_port(rest)) {
            request.url = format!("http://127.0.0.1:{rest}");
        }
        request
    }

    #[async_trait]
    impl HttpClient for Http {
        async fn execute(&self, request: HttpRequest) -> anyhow::Result<HttpResponse> {
            self.0.execute(plain(request)).await
        }

        fn supports_streaming(&self) -> bool {
            self.0.supports_streaming()
        }

        fn execute_streaming(&self, request: HttpRequest) -> anyhow::Result<StreamingHttpResponse> {
            self.0.execute_streaming(plain(request))
        }

        fn supports_upload_streaming(&self) -> bool {
            self.0.supports_upload_streaming()
        }

        fn execute_upload(&self, request: HttpRequest, body: UploadBody, length: u64) -> anyhow::Result<HttpResponse> {
            self.0.execute_upload(plain(request), body, length)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::begins_with_port;

        #[test]
        fn another_machine_does_not_pass_for_loopback() {
            assert!(["8080", "8080/", "8080/ws/chat", "1/@host"].into_iter().all(begins_with_port));
            for other in ["x@host/", "8080@host/", "8080:x@host/", "@host/", "", "/", "+80/", "65536/", "80\\@host/", "80?@host/"]
            {
                assert!(!begins_with_port(other), "{other}");
            }
        }
    }
}

#[cfg(test)]
mod tests;
