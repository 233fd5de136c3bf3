//! The server for files: what is uploaded over HTTP can be downloaded. The program reaches it by HTTP, the contact of a story in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wacore::net::{HttpClient, HttpRequest, HttpResponse};

/// The files, by their paths.
#[derive(Clone)]
pub struct Files {
    port: u16,
    kept: Arc<Mutex<HashMap<String, Vec<u8>>>>,
}

impl Files {
    /// Starts the server.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let files = Self { port: listener.local_addr().unwrap().port(), kept: Arc::default() };
        let server = files.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let server = server.clone();
                tokio::spawn(async move { server.serve(socket).await });
            }
        });
        files
    }

    /// The host as the clients are told.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Loses every file.
    pub fn lose(&self) {
        self.kept.lock().unwrap().clear();
    }

    fn answer(&self, method: &str, path: &str, body: Vec<u8>) -> (u16, Vec<u8>) {
        let path = path.split('?').next().unwrap_or_default();
        let mut kept = self.kept.lock().unwrap();
        match method {
            "POST" => {
                let name = format!("/v{path}");
                let answer = format!("{{\"url\":\"https://{}{name}\",\"direct_path\":\"{name}\"}}", self.host());
                kept.insert(name, body);
                (200, answer.into_bytes())
            }
            "GET" => kept.get(path).map_or((404, Vec::new()), |body| (200, body.clone())),
            _ => (405, Vec::new()),
        }
    }

    /// One request for each connection.
    async fn serve(&self, mut socket: TcpStream) -> std::io::Result<()> {
        let mut read = Vec::new();
        let end = loop {
            if let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            if socket.read_buf(&mut read).await? == 0 {
                return Ok(());
            }
        };
        let head = String::from_utf8_lossy(&read[..end]).into_owned();
        let header = |line: &str| {
            line.to_lowercase().strip_prefix("content-length:").map(|length| length.trim().parse::<usize>().unwrap())
        };
        let length: usize = head.lines().find_map(header).unwrap_or_default();
        while read.len() < end + length {
            if socket.read_buf(&mut read).await? == 0 {
                return Ok(());
            }
        }
        let mut first = head.split_whitespace();
        let (method, path) = (first.next().unwrap_or_default(), first.next().unwrap_or_default());
        let (status, body) = self.answer(method, path, read[end..].to_vec());
        let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        socket.write_all(head.as_bytes()).await?;
        socket.write_all(&body).await?;
        socket.shutdown().await
    }
}

#[async_trait]
impl HttpClient for Files {
    async fn execute(&self, request: HttpRequest) -> anyhow::Result<HttpResponse> {
        let path = request.url.splitn(4, '/').nth(3).map(|path| format!("/{path}")).unwrap_or_default();
        let (status_code, body) = self.answer(&request.method, &path, request.body.map(|body| body.to_vec()).unwrap_or_default());
        Ok(HttpResponse { status_code, body })
    }
}
