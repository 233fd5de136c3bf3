//! Tests of `cli::relay::ask`.

use std::net::TcpListener;

use super::*;

#[tokio::test]
async fn a_server_that_hangs_is_given_up_with_words() {
    // The kernel takes connections for it, and nobody answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = Url::parse(&format!("http://{}/", silent.local_addr().unwrap())).unwrap();
    let client = RelayClient {
        server: AskedServer::Named(url),
        token: SecretString::from("any"),
        token_file: PathBuf::new(),
        json: true,
        patience: Duration::from_millis(50),
        waits: Cell::new(false),
    };
    let read = client.get::<Value>(&["instances"], &[]).await.map(|answer| answer.whole).unwrap_err();
    let said = read.to_string();
    assert!(said.contains("has not answered within") && !said.contains("before you repeat it"), "{said}");
    let done = client.order::<Value>(&["instances"]).await.map(|answer| answer.whole).unwrap_err().to_string();
    assert!(done.contains("has not answered within") && done.contains("look before you repeat it"), "{done}");
}
