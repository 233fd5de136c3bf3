//! Looks at what calls by Vapi need: a public name that leads here and opens nothing else, and a
//! clock that is right.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta};
use url::Url;

use crate::clock::Clock;
use crate::config::VapiConfig;
use crate::domain::{HttpGrant, HttpRequest, HttpResponse, Scheme};
use crate::egress::{Egress, EgressLimits};

/// A clock that is off by more is told: a message that is five minutes old is refused.
const OFF: TimeDelta = TimeDelta::minutes(1);

/// A thing that was looked at, and the finding: well, or what to do.
pub type Looked = (&'static str, Result<String, String>);

/// Looks at all of it; nothing if nothing of Vapi is set.
pub async fn look(config: &VapiConfig, egress: &Egress, clock: &dyn Clock) -> Vec<Looked> {
    const VAPI: &str = "vapi";
    let Some(settings) = &config.whole else {
        let missing = config.missing.map(|missing| format!("calls by Vapi are off: set {missing} (docs/voice.md)"));
        return missing.into_iter().map(|missing| (VAPI, Err(missing))).collect();
    };
    let egress = egress.to_own(&[&settings.public, &settings.url], EgressLimits { redirects: 0, ..EgressLimits::default() });
    let door = ask(&egress, "POST", &settings.public, "/voice/vapi/0/events").await;
    let health = ask(&egress, "GET", &settings.public, "/healthz").await;
    let theirs = ask(&egress, "POST", &settings.url, settings.url.path()).await;
    vec![("public name", named(&settings.public, door, health)), ("clock", timed(theirs, clock))]
}

/// The finding of a stranger under the name.
fn named(public: &Url, door: Result<HttpResponse, String>, health: Result<HttpResponse, String>) -> Result<String, String> {
    let unreached = |why: String| format!("{public} does not lead here: {why}");
    let (door, health) = (door.map_err(unreached)?, health.map_err(unreached)?);
    if health.status < 400 {
        return Err(format!(
            "under {public} the whole server is open (/healthz answers {}): have the tunnel or proxy keep the name in the header Host",
            health.status
        ));
    }
    match door.status {
        401 => Ok(format!("{public} leads to Vapi's doors, and to nothing else")),
        status => {
            Err(unreached(format!("its door answers with status {status}; start the server, and look at the tunnel or proxy")))
        }
    }
}

/// Compares the clock with the one of Vapi's address.
fn timed(answer: Result<HttpResponse, String>, clock: &dyn Clock) -> Result<String, String> {
    let answer = answer.map_err(|why| format!("Vapi could not be asked for the time: {why}"))?;
    let date = answer.headers.iter().find(|(name, _)| name == "date");
    let there = date.and_then(|(_, date)| DateTime::parse_from_rfc2822(date).ok()).ok_or("Vapi's address says no time")?;
    let off = clock.now() - there.to_utc();
    if off.abs() <= OFF {
        return Ok("the clock is right".to_owned());
    }
    Err(format!("the clock is off by {} s, so messages of Vapi's are refused as too old: set it right", off.num_seconds()))
}

async fn ask(egress: &Egress, method: &str, base: &Url, path: &str) -> Result<HttpResponse, String> {
    let url = base.join(path).map_err(|error| error.to_string())?;
    let scheme = if url.scheme() == "http" { Scheme::Http } else { Scheme::Https };
    let host = HttpGrant::host(url.host_str().unwrap_or_default());
    let grants = BTreeSet::from([HttpGrant { scheme, port: url.port(), ..host }]);
    let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    let body = (method == "POST").then(|| b"{}".to_vec());
    let request = HttpRequest { method: method.to_owned(), url: url.to_string(), headers, body, idempotency_key: None };
    egress.tell(request, &grants).await.map_err(|error| error.for_person())
}

#[cfg(test)]
mod tests;
