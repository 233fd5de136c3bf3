//! The server for files: what is uploaded over HTTP can be downloaded. The program reaches it by
//! HTTP, the contact of a story in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::net::{TcpListener, TcpStream};
use wacore::net::{HttpClient, HttpRequest, HttpResponse};

use crate::http;

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

    async fn serve(&self, mut socket: TcpStream) -> std::io::Result<()> {
        let Some(request) = http::read(&mut socket).await? else { return Ok(()) };
        let (status, body) = self.answer(&request.method, &request.path, request.body);
        http::answer(&mut socket, status, "application/octet-stream", &body).await
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
