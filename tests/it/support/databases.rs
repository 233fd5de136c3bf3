//! A database for each story, with all tables and no rows. The migrations run once for each name:
//! what they made is kept beside it, and copied for the next story that has the name.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use level3::clock::SeededRandom;
use level3::postgres::Database;
use level3::store::Store;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::cluster;

/// The names that stories have given back, the longest ago first.
static FREE: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
/// So many names rest: a task of a story that is over may reach for its database once more.
const RESTING: usize = 3;

/// Makes a database, and gives its name. The logins bear the name too, and a copy's are those of
/// what it was copied from.
pub async fn take() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let rested = {
        let mut free = FREE.lock().unwrap();
        if free.len() > RESTING { free.pop_front() } else { None }
    };
    let name = match rested {
        Some(name) => name,
        None => {
            let name = format!("t{}", COUNT.fetch_add(1, Ordering::Relaxed));
            make_template(&name).await;
            name
        }
    };
    run(format!("CREATE DATABASE {name} TEMPLATE {name}_template")).await;
    name
}

/// Removes the database of a story that is over, and frees its name.
pub async fn give_back(name: &str) {
    run(format!("DROP DATABASE {name} WITH (FORCE)")).await;
    FREE.lock().unwrap().push_back(name.to_owned());
}

async fn make_template(name: &str) {
    let store = Store::open(&Database::inside(cluster(), name), &SeededRandom::new(0)).await.expect("the tables of the tests");
    store.close().await;
    // The server of a story makes its own, by chance of its own.
    let inside = cluster().database(name).options([("search_path", "level3")]);
    let mut connection = PgConnection::connect_with(&inside).await.expect("the administrator");
    sqlx::raw_sql("DELETE FROM server_keys").execute(&mut connection).await.expect("the keys go");
    connection.close().await.expect("the administrator goes");
    run(format!("ALTER DATABASE {name} RENAME TO {name}_template")).await;
}

async fn run(statement: String) {
    let mut admin = PgConnection::connect_with(&cluster()).await.expect("the administrator");
    let done = sqlx::raw_sql(AssertSqlSafe(statement.clone())).execute(&mut admin).await;
    done.unwrap_or_else(|error| panic!("{statement}: {error}"));
    admin.close().await.expect("the administrator goes");
}
