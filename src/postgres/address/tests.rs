//! Tests of `postgres::address`.

use super::*;

#[test]
fn an_address_that_is_not_one_of_a_named_postgres_database_is_refused_with_the_way_to_write_it() {
    for (url, said) in [
        ("mysql://root@127.0.0.1/shop", "begins with `mysql:`"),
        ("localhost:5432/shop", "begins with `localhost:`"),
        ("shop", "is not a Postgres address"),
        ("postgres://postgres@127.0.0.1:5432", "names no database"),
        ("postgresql://postgres@127.0.0.1:5432/", "names no database"),
        ("postgres://postgres@127.0.0.1/?dbname=", "names no database"),
        ("postgres://postgres@127.0.0.1:port/shop", "is not a Postgres address"),
    ] {
        let error = target(url).expect_err(url);
        assert!(
            error.lasts() && error.to_string().contains(said) && error.to_string().contains("DATABASE_URL"),
            "{url}: {error}"
        );
    }
    for url in ["postgres://a:b@127.0.0.1/shop", "postgresql:///shop?host=/run", "postgres://127.0.0.1?dbname=shop"] {
        assert_eq!(target(url).unwrap().1, "shop", "{url}");
    }
}

#[tokio::test]
async fn a_postgres_that_does_not_answer_is_spoken_of_at_once_and_again_and_may_still_come() {
    let patience =
        Patience { whole: Duration::from_millis(900), first: Duration::from_millis(20), every: Duration::from_millis(100) };
    // Nobody is there; and somebody who accepts and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (address, why) in [(gone, "refused"), (silent.local_addr().unwrap(), "nothing was answered")] {
        let (admin, _) = target(&format!("postgres://a@{address}/b")).unwrap();
        let mut said = Vec::new();
        let error = wait_for(&admin, patience, |words| said.push(words.to_owned())).await.expect_err("nobody answers");
        assert!(!error.lasts() && error.to_string().contains(why), "{error}");
        assert!(said.len() >= 3 && said.iter().all(|words| words.contains(why)), "{said:?}");
    }
}
