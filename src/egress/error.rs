//! Why a request was not made, or has no response. Each problem has a sentence for the model that
//! wrote the request, and one for a person whose own settings led to it: a model can ask for a
//! grant, or for less, and a person cannot.

use std::io;
use std::time::Duration;

use crate::telemetry::Scrubber;

/// A request that was refused or failed. No sentence holds the value of a secret.
#[derive(Debug)]
pub struct EgressError {
    problem: Problem,
    sent: bool,
}

impl EgressError {
    pub(super) fn new(problem: Problem, sent: bool) -> Self {
        Self { problem, sent }
    }

    /// True when something may have reached a peer, so that the effect may have happened. False
    /// only when no byte of a request was written, at no hop.
    pub fn may_have_arrived(&self) -> bool {
        self.sent
    }

    /// The failure itself, without the word on whether the request may have arrived.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The sentence for a person.
    pub fn for_person(&self) -> String {
        self.problem.for_person()
    }
}

/// The sentence for a model.
impl std::fmt::Display for EgressError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for EgressError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.problem.source()
    }
}

/// The ways in which a request fails. Shown, each is a sentence for a model.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The address cannot be used.
    #[error("The address `{url}` cannot be used: {why}.")]
    Url {
        /// As it was given.
        url: String,
        /// The reason, as a clause of the sentence.
        why: &'static str,
    },
    /// The method cannot be used.
    #[error("The method `{0}` cannot be used: write GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS.")]
    Method(String),
    /// A header cannot be used.
    #[error("The header `{name}` cannot be sent: {why}.")]
    Header {
        /// Its name.
        name: String,
        /// The reason, as a clause of the sentence.
        why: &'static str,
    },
    /// There is too much to send.
    #[error("The request is too large: {what} is {size}, at most {most} can be sent.")]
    RequestTooLarge {
        /// The part of the request that is too large, as the sentence names it.
        what: &'static str,
        /// Its size.
        size: usize,
        /// The limit.
        most: usize,
    },
    /// No grant allows it.
    #[error(
        "{method} {place} is not granted. To reach it, ask for the grant {{\"http\": {{\"hosts\": [\"{grant}\"]}}}} when you write a capability, or for it in `hosts` when you propose a script. A person approves it."
    )]
    NotGranted {
        /// The method.
        method: String,
        /// Scheme, host, port and path.
        place: String,
        /// The entry for `hosts` that would allow this request.
        grant: String,
    },
    /// The host is, or has, an address that is not public.
    #[error(
        "{host} is at {address}, which is for {range}. Requests go to public addresses only; the operator can allow this one with LEVEL3_EGRESS_ALLOW."
    )]
    NotPublic {
        /// The host as it was named.
        host: String,
        /// The address with its port.
        address: std::net::SocketAddr,
        /// The use this address is reserved for.
        range: &'static str,
    },
    /// The name has no address.
    #[error("There is no host {host}: its name has no address. Check how it is written.")]
    NoAddress {
        /// The name.
        host: String,
    },
    /// The name could not be looked up.
    #[error("The name {host} could not be looked up.")]
    Lookup {
        /// The name.
        host: String,
        /// The resolver's error.
        #[source]
        source: io::Error,
    },
    /// Nobody answers there.
    #[error("{host} cannot be reached.")]
    Connect {
        /// The host.
        host: String,
        /// The error of the last address that was tried.
        #[source]
        source: io::Error,
    },
    /// The host cannot show who it is.
    #[error("{host} cannot be spoken to over https.")]
    Tls {
        /// The host.
        host: String,
        /// The fault in the host's certificate or in its protocol.
        #[source]
        source: io::Error,
    },
    /// This machine cannot check certificates.
    #[error(
        "https cannot be used on this machine: it has no CA certificates. The operator has to install the package ca-certificates."
    )]
    NoRoots,
    /// A secret would go where it may not.
    #[error("The secret {name} may not be sent to {host}: {why}.")]
    Secret {
        /// The secret's name.
        name: String,
        /// The host that would have received it.
        host: String,
        /// Why it may not.
        why: &'static str,
    },
    /// A part of a response could hold a part of a secret, which nothing would recognise.
    #[error(
        "{host} may be sent the secret {name}, so only whole responses are read from there, and this is a part of one: leave the header \
         Range away."
    )]
    Part {
        /// The peer.
        host: String,
        /// The secret's name.
        name: String,
    },
    /// The peer points from one place to the next without end.
    #[error("The redirects do not end: {0} were followed.")]
    Redirects(usize),
    /// The peer points nowhere.
    #[error("{host} redirects to an address that cannot be read.")]
    BadRedirect {
        /// The peer.
        host: String,
    },
    /// The body is packed, although it was asked for as it is.
    #[error("{host} sent its response packed ({coding}) although it was asked not to; it was not read.")]
    Packed {
        /// The peer.
        host: String,
        /// The name of the coding.
        coding: String,
    },
    /// The response is too long.
    #[error("The response of {host} is longer than {most} bytes and was not kept: ask for less, for example a page of it.")]
    ResponseTooLarge {
        /// The peer.
        host: String,
        /// The limit in bytes.
        most: usize,
    },
    /// It took too long.
    #[error("There was no complete response within {} seconds.", .0.as_secs_f32())]
    Slow(Duration),
    /// The connection broke, or the peer does not speak HTTP.
    #[error("The connection to {host} broke before the response was complete.")]
    Broken {
        /// The peer.
        host: String,
        /// How.
        #[source]
        source: hyper::Error,
    },
}

impl Problem {
    /// The sentence for a person, who set the request up and did not write it.
    pub(super) fn for_person(&self) -> String {
        match self {
            Self::NotGranted { method, place, .. } => {
                format!("It leads on to {method} {place}, which is not what was set up: set up the address that answers.")
            }
            Self::Part { host, .. } => format!("{host} sent only a part of its response."),
            Self::ResponseTooLarge { host, most } => {
                format!("The response of {host} is longer than {most} bytes and was not read.")
            }
            Self::Url { .. }
            | Self::Method(_)
            | Self::Header { .. }
            | Self::RequestTooLarge { .. }
            | Self::NotPublic { .. }
            | Self::NoAddress { .. }
            | Self::Lookup { .. }
            | Self::Connect { .. }
            | Self::Tls { .. }
            | Self::NoRoots
            | Self::Secret { .. }
            | Self::Redirects(_)
            | Self::BadRedirect { .. }
            | Self::Packed { .. }
            | Self::Slow(_)
            | Self::Broken { .. } => self.to_string(),
        }
    }

    /// The problem without the values these scrubbers know.
    pub(super) fn without(mut self, scrubbers: &[Scrubber]) -> Self {
        let clean = |text: &mut String| {
            for scrubber in scrubbers {
                *text = scrubber.clean(text).into_owned();
            }
        };
        match &mut self {
            Self::NotGranted { method, place, grant } => [method, place, grant].into_iter().for_each(clean),
            Self::Packed { host, coding } => [host, coding].into_iter().for_each(clean),
            Self::Url { url: text, .. }
            | Self::Method(text)
            | Self::Header { name: text, .. }
            | Self::Secret { host: text, .. }
            | Self::NotPublic { host: text, .. }
            | Self::NoAddress { host: text }
            | Self::Lookup { host: text, .. }
            | Self::Connect { host: text, .. }
            | Self::Tls { host: text, .. }
            | Self::BadRedirect { host: text }
            | Self::Part { host: text, .. }
            | Self::ResponseTooLarge { host: text, .. }
            | Self::Broken { host: text, .. } => clean(text),
            Self::RequestTooLarge { .. } | Self::NoRoots | Self::Redirects(_) | Self::Slow(_) => {}
        }
        self
    }
}
