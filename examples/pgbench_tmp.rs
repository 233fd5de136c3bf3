use level3::store::{embedded::Embedded, logins};
use sqlx::{ConnectOptions, Connection};
use std::time::Instant;
#[tokio::main]
async fn main() {
    let d = std::env::args().nth(1).unwrap();
    for i in 0..4 {
        let t = Instant::now();
        let pg = Embedded::start(d.as_ref(), None).await.unwrap();
        let a = t.elapsed();
        let t = Instant::now();
        let l = logins::prepare(&pg.admin(), "level3", true).await.unwrap();
        let b = t.elapsed();
        let t = Instant::now();
        let c = l.app.connect().await.unwrap();
        let e = t.elapsed();
        c.close().await.unwrap();
        let t = Instant::now();
        pg.stop().await.unwrap();
        println!("{i} start {a:?} prepare {b:?} connect {e:?} stop {:?}", t.elapsed());
    }
}
