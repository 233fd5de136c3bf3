//! Placeholders, which stand for secrets until the request leaves. A guest sees placeholders only;
//! here they are exchanged, for the hosts a secret is bound to.

use std::borrow::Cow;
use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use secrecy::{ExposeSecret, SecretString};
use serde::de::IgnoredAny;
use url::Url;

use crate::domain::binding_matches;
use crate::telemetry::Scrubber;

/// The placeholders of one capability call and what they stand for. Make them of letters, digits,
/// `_` and `-`, long and random: then they look the same however the guest encodes them, and one
/// call's are no use to the next.
#[derive(Clone, Debug, Default)]
pub struct Placeholders {
    placeholders: Vec<String>,
    secrets: Vec<Secret>,
}

#[derive(Clone, Debug)]
struct Secret {
    name: String,
    value: SecretString,
    hosts: BTreeSet<String>,
}

/// How a value is written where it is put.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Encoding {
    /// Headers, and bodies of unknown type: as it is.
    Plain,
    /// Inside a text of JSON.
    Json,
    /// In an address, and in a form.
    Address,
}

/// Secrets that a text makes use of, as places in [`Placeholders`].
pub(super) type UsedSecrets = BTreeSet<usize>;

impl Placeholders {
    /// Lets `placeholder` stand for the secret `name`, for the places in `hosts`, as
    /// [`binding_matches`] reads them.
    pub fn insert(&mut self, placeholder: String, name: String, value: SecretString, hosts: BTreeSet<String>) {
        if placeholder.is_empty() {
            return;
        }
        self.placeholders.push(placeholder);
        self.secrets.push(Secret { name, value, hosts });
    }

    /// Makes them ready to be found.
    pub(super) fn ready(&self) -> Substitution<'_> {
        let finder = match self.placeholders.is_empty() {
            true => None,
            false => AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&self.placeholders).ok(),
        };
        Substitution { all: self, finder }
    }
}

/// Finds placeholders and puts values in their place.
pub(super) struct Substitution<'a> {
    all: &'a Placeholders,
    finder: Option<AhoCorasick>,
}

impl Substitution<'_> {
    /// The secrets whose placeholders stand in `bytes`.
    pub(super) fn used(&self, bytes: &[u8]) -> UsedSecrets {
        let Some(finder) = &self.finder else { return UsedSecrets::new() };
        finder.find_iter(bytes).map(|found| found.pattern().as_usize()).collect()
    }

    /// As [`Self::used`], for the value of a header: `Basic` is looked into.
    pub(super) fn used_in_header(&self, value: &str) -> UsedSecrets {
        let mut used = self.used(value.as_bytes());
        if self.finder.is_some()
            && let Some(inside) = basic(value)
        {
            used.extend(self.used(&inside));
        }
        used
    }

    /// The first secret whose placeholder stands in one of these texts in another form, as in
    /// base64: its value cannot be put in there. `Basic` is looked into, and is none of them.
    pub(super) fn disguised<'t>(&self, texts: impl Iterator<Item = &'t [u8]>) -> Option<usize> {
        let (finder, nothing) = (self.finder.as_ref()?, vec![""; self.all.placeholders.len()]);
        let plain: Vec<_> = texts.map(|text| finder.replace_all_bytes(text, &nothing)).collect();
        self.all.placeholders.iter().position(|placeholder| {
            let scrubber = Scrubber::new(&[(String::new(), SecretString::from(placeholder.as_str()))]);
            plain.iter().any(|text| matches!(scrubber.clean_bytes(text), Cow::Owned(_)))
        })
    }

    /// `bytes` with the values.
    pub(super) fn fill<'b>(&self, bytes: &'b [u8], place: Encoding) -> Cow<'b, [u8]> {
        let Some(finder) = self.finder.as_ref().filter(|finder| finder.is_match(bytes)) else { return Cow::Borrowed(bytes) };
        let mut filled = Vec::with_capacity(bytes.len());
        finder.replace_all_with_bytes(bytes, &mut filled, |found, _, filled| {
            filled.extend_from_slice(place.write(self.all.secrets[found.pattern().as_usize()].value.expose_secret()).as_bytes());
            true
        });
        Cow::Owned(filled)
    }

    /// As [`Self::fill`], for the value of a header: `Basic` is taken apart and put together again.
    pub(super) fn fill_header(&self, value: &str) -> Vec<u8> {
        if self.finder.is_some()
            && let Some(inside) = basic(value)
            && let Cow::Owned(filled) = self.fill(&inside, Encoding::Plain)
        {
            return format!("Basic {}", BASE64_STANDARD.encode(filled)).into_bytes();
        }
        self.fill(value.as_bytes(), Encoding::Plain).into_owned()
    }

    /// Every secret of the call.
    pub(super) fn all(&self) -> UsedSecrets {
        (0..self.all.secrets.len()).collect()
    }

    pub(super) fn name(&self, secret: usize) -> &str {
        &self.all.secrets[secret].name
    }

    /// The first secret of the call that may be sent to this address.
    pub(super) fn bound_to(&self, url: &Url) -> Option<usize> {
        (0..self.all.secrets.len()).find(|secret| self.is_bound_to(*secret, url))
    }

    /// True when the secret is bound to the host of this address.
    pub(super) fn is_bound_to(&self, secret: usize, url: &Url) -> bool {
        self.all.secrets[secret].hosts.iter().any(|pattern| binding_matches(pattern, url))
    }

    /// Secrets whose values stand in a text that somebody else wrote, in any form.
    pub(super) fn values_in(&self, text: &str) -> UsedSecrets {
        let shows = |secret: &Secret| matches!(secret.scrubber().clean(text), Cow::Owned(_));
        self.all.secrets.iter().enumerate().filter(|(_, secret)| shows(secret)).map(|(secret, _)| secret).collect()
    }

    /// Knows the values of these secrets, whatever the rest of the program knows.
    pub(super) fn scrubber(&self, used: &UsedSecrets) -> Scrubber {
        let values = used.iter().map(|secret| &self.all.secrets[*secret]);
        Scrubber::new(&values.map(|secret| (secret.name.clone(), secret.value.clone())).collect::<Vec<_>>())
    }
}

impl Secret {
    fn scrubber(&self) -> Scrubber {
        Scrubber::new(&[(self.name.clone(), self.value.clone())])
    }
}

impl Encoding {
    /// The form for a body of this type: in JSON and in a form, a value must not end the text it
    /// stands in. Peers read JSON whatever its type says, so a body that is JSON counts as JSON.
    pub(super) fn in_body(content_type: &str, body: &[u8]) -> Self {
        let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "application/json" => Self::Json,
            "application/x-www-form-urlencoded" => Self::Address,
            _ if kind.ends_with("+json") || is_json(body) => Self::Json,
            _ => Self::Plain,
        }
    }

    fn write(self, value: &str) -> Cow<'_, str> {
        match self {
            Self::Plain => Cow::Borrowed(value),
            Self::Json => {
                let quoted = serde_json::to_string(value).unwrap_or_default();
                Cow::Owned(quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned())
            }
            Self::Address => Cow::Owned(in_address(value)),
        }
    }
}

/// True if a body is JSON, or several values of it one after the other, as a line each.
fn is_json(body: &[u8]) -> bool {
    serde_json::Deserializer::from_slice(body).into_iter::<IgnoredAny>().all(|value| value.is_ok())
}

/// Percent-encoded, but for what RFC 3986 calls unreserved, and for the colon: it separates nothing
/// in a path or a query, and some servers compare the path of a bot's token as it came.
fn in_address(value: &str) -> String {
    value
        .bytes()
        .map(|byte| match byte {
            b'-' | b'.' | b'_' | b'~' | b':' => char::from(byte).to_string(),
            _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

/// The user and password of `Basic …`, decoded.
pub(super) fn basic(value: &str) -> Option<Vec<u8>> {
    let (scheme, encoded) = value.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    BASE64_STANDARD.decode(encoded.trim()).ok()
}
