//! A pooler between the program and the server: the program works with a harmless one, and names a
//! harmful one.

use level3::postgres::logins::{LoginError, prepare};
use sqlx::postgres::PgConnectOptions;

use super::{Server, assert_fenced, run};

/// A pooler's change of the first message of a connection.
type Change = fn(Vec<(String, String)>) -> Vec<(String, String)>;

/// Stands between a program and the server, as a pooler does; `change` alters the settings with
/// which a connection begins.
async fn pooler(server: &Server, change: Change) -> PgConnectOptions {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let admin = server.postgres.admin();
    let socket = admin.get_socket().unwrap().join(format!(".s.PGSQL.{}", admin.get_port()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let socket = socket.clone();
            tokio::spawn(async move {
                let mut length = [0; 4];
                client.read_exact(&mut length).await?;
                let mut first = vec![0; u32::from_be_bytes(length) as usize - 4];
                client.read_exact(&mut first).await?;
                let words: Vec<_> =
                    first[4..].split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
                let given =
                    words.chunks(2).filter(|pair| !pair[0].is_empty()).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
                let mut body = first[..4].to_vec();
                for (name, value) in change(given) {
                    body.extend([name.as_bytes(), &[0], value.as_bytes(), &[0]].concat());
                }
                body.push(0);
                let mut upstream = tokio::net::UnixStream::connect(socket).await?;
                upstream.write_all(&u32::try_from(body.len() + 4).unwrap().to_be_bytes()).await?;
                upstream.write_all(&body).await?;
                tokio::io::copy_bidirectional(&mut client, &mut upstream).await
            });
        }
    });
    PgConnectOptions::new_without_pgpass().host("127.0.0.1").port(port).ssl_mode(sqlx::postgres::PgSslMode::Disable)
}

#[tokio::test]
async fn a_pooler_that_drops_options_changes_nothing() {
    let server = Server::start().await;
    run(&mut server.admin().await, "CREATE DATABASE theirs").await;
    let through = pooler(&server, |given| given.into_iter().filter(|(name, _)| name != "options").collect()).await;
    let logins = prepare(&through.username("postgres"), "theirs", false).await.unwrap();
    assert_fenced(&logins).await;
    server.postgres.stop().await.unwrap();
}

#[tokio::test]
async fn a_pooler_that_hands_out_sessions_of_others_or_other_settings_is_named_and_refused() {
    let server = Server::start().await;
    run(&mut server.admin().await, "CREATE DATABASE theirs").await;
    let another: Change = |given| {
        let user = |(name, value): (String, String)| match value.contains("_agent_") {
            true if name == "user" => (name, "postgres".to_owned()),
            _ => (name, value),
        };
        given.into_iter().map(user).collect()
    };
    let endless: Change = |mut given| {
        given.retain(|(name, _)| name != "options");
        given.push(("options".to_owned(), "-c statement_timeout=0".to_owned()));
        given
    };
    for (change, said) in [(another, "another login"), (endless, "`statement_timeout` is `0`")] {
        let through = pooler(&server, change).await;
        let error = prepare(&through.username("postgres"), "theirs", false).await.unwrap_err();
        assert!(matches!(error, LoginError::Pooler { .. }), "{error:?}");
        assert!(error.to_string().contains("pooler") && error.to_string().contains(said), "{error}");
    }
    server.postgres.stop().await.unwrap();
}
