//! A name that leads here, elsewhere, or to far too much; and clocks.

use super::*;
use crate::clock::ManualClock;

fn answer(status: u16, date: &str) -> Result<HttpResponse, String> {
    Ok(HttpResponse { status, headers: vec![("date".into(), date.into())], ..HttpResponse::default() })
}

#[test]
fn a_name_leads_to_two_doors_or_says_what_to_do() {
    let public = Url::parse("https://law.example.com").unwrap();
    assert!(named(&public, answer(401, ""), answer(404, "")).is_ok());
    for (door, health, said) in [
        (answer(401, ""), answer(200, ""), "the whole server is open"),
        (answer(404, ""), answer(404, ""), "its door answers with status 404"),
        (answer(502, ""), answer(502, ""), "its door answers with status 502"),
        (Err("nobody there".into()), answer(404, ""), "does not lead here: nobody there"),
    ] {
        let told = named(&public, door, health).unwrap_err();
        assert!(told.contains(said), "{told}");
    }
}

#[test]
fn a_clock_that_is_off_is_told() {
    let clock = ManualClock::at("2026-11-20T08:00:00Z".parse().unwrap());
    assert!(timed(answer(401, "Fri, 20 Nov 2026 08:00:30 GMT"), &clock).is_ok());
    let late = timed(answer(401, "Fri, 20 Nov 2026 08:06:00 GMT"), &clock).unwrap_err();
    assert!(late.contains("off by -360 s"), "{late}");
    assert!(timed(answer(401, "now"), &clock).is_err());
}
