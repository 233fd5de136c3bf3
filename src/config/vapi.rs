//! Calls by Vapi: its key, the public name under which it reaches this server, and how it signs.

use std::net::{IpAddr, SocketAddr};

use serde::Deserialize;
use url::Url;

use super::voice::{secret, whole};
use super::{ConfigError, HostName};

/// The address that makes a call by the web.
const USUAL: &str = "https://api.vapi.ai/call/web";

/// All that Vapi needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VapiSettings {
    /// `VOICE_VAPI_KEY`: the name of the secret with its key.
    pub key: String,
    /// `VOICE_VAPI_URL`: the address that makes a call.
    pub url: Url,
    /// `VOICE_PUBLIC_URL`: this server as Vapi reaches it.
    pub public: Url,
    /// `VOICE_VAPI_SECRET`: the name of the secret by which an assistant of Vapi's dashboard shows
    /// itself.
    pub secret: Option<String>,
    /// `VOICE_VAPI_SIGNATURE`: how messages are signed.
    pub signature: SignaturePlan,
}

/// The settings of Vapi, as far as there are some.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VapiConfig {
    /// The name under which Vapi, and nobody else, reaches this server.
    pub public: Option<HostName>,
    /// All of it, if nothing is missing.
    pub whole: Option<VapiSettings>,
    /// The setting that is missing, if something of it is set.
    pub missing: Option<&'static str>,
}

/// A digest for signatures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignatureAlgorithm {
    /// SHA-256.
    #[default]
    Sha256,
    /// SHA-512.
    Sha512,
    /// SHA-1.
    Sha1,
}

impl SignatureAlgorithm {
    /// As Vapi calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
            Self::Sha1 => "sha1",
        }
    }
}

/// How the bytes of a signature are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignatureEncoding {
    /// In hexadecimal digits.
    #[default]
    Hex,
    /// In base64.
    Base64,
}

impl SignatureEncoding {
    /// As Vapi calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hex => "hex",
            Self::Base64 => "base64",
        }
    }
}

/// How messages are signed, by the names of headers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SignaturePlan {
    /// The header with the signature.
    pub signature: String,
    /// The header with the seconds since 1970.
    pub timestamp: String,
    /// Stands before the signature, such as `sha256=`.
    pub prefix: String,
    /// The digest.
    pub algorithm: SignatureAlgorithm,
    /// The form.
    pub encoding: SignatureEncoding,
    /// True if `X-Vapi-Secret` with the secret itself is taken, too.
    pub plain: bool,
}

impl Default for SignaturePlan {
    fn default() -> Self {
        Self {
            signature: "x-signature".to_owned(),
            timestamp: "x-timestamp".to_owned(),
            prefix: String::new(),
            algorithm: SignatureAlgorithm::default(),
            encoding: SignatureEncoding::default(),
            plain: false,
        }
    }
}

/// Reads the settings. `own` are the further names of this server.
pub(super) fn read(get: impl Fn(&str) -> Option<String>, own: &[HostName]) -> Result<VapiConfig, ConfigError> {
    let key = secret("VOICE_VAPI_KEY", get("VOICE_VAPI_KEY"))?;
    let shared = secret("VOICE_VAPI_SECRET", get("VOICE_VAPI_SECRET"))?;
    let url = whole("VOICE_VAPI_URL", get("VOICE_VAPI_URL").unwrap_or_else(|| USUAL.to_owned()))?;
    let signature = get("VOICE_VAPI_SIGNATURE").map_or_else(|| Ok(SignaturePlan::default()), plan)?;
    let listen: Option<SocketAddr> = get("LEVEL3_LISTEN").and_then(|written| written.parse().ok());
    let public = get("VOICE_PUBLIC_URL").map(|written| public(written, own, listen)).transpose()?;
    let name = public.as_ref().map(|(_, name)| name.clone());
    let (settings, missing) = match (key, public) {
        (Some(key), Some((public, _))) => (Some(VapiSettings { key, url, public, secret: shared, signature }), None),
        (Some(_), None) => (None, Some("VOICE_PUBLIC_URL")),
        (None, Some(_)) => (None, Some("VOICE_VAPI_KEY")),
        (None, None) => (None, None),
    };
    Ok(VapiConfig { public: name, whole: settings, missing })
}

fn plan(value: String) -> Result<SignaturePlan, ConfigError> {
    let wrong = |problem: String| ConfigError { variable: "VOICE_VAPI_SIGNATURE", value: value.clone(), problem };
    // An array would be read as the fields in their order.
    if !value.trim_start().starts_with('{') {
        return Err(wrong("expected a JSON object as in docs/voice.md".to_owned()));
    }
    let plan: SignaturePlan =
        serde_json::from_str(&value).map_err(|error| wrong(format!("expected JSON as in docs/voice.md: {error}")))?;
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_name(&plan.signature) && is_name(&plan.timestamp) {
        Ok(plan)
    } else {
        Err(wrong("expected names of headers".to_owned()))
    }
}

/// A name that only Vapi uses: the server under it opens two doors, so a person's own name would
/// lock them out.
fn public(value: String, own: &[HostName], listen: Option<SocketAddr>) -> Result<(Url, HostName), ConfigError> {
    let url = whole("VOICE_PUBLIC_URL", value.clone())?;
    let wrong = |problem: &str| ConfigError { variable: "VOICE_PUBLIC_URL", value: value.clone(), problem: problem.to_owned() };
    // A dot at the end makes no other name.
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    let name: HostName = host.parse().map_err(wrong)?;
    let address = match url.host() {
        Some(url::Host::Ipv4(address)) => Some(IpAddr::V4(address)),
        Some(url::Host::Ipv6(address)) => Some(address.to_canonical()),
        Some(url::Host::Domain(_)) | None => None,
    };
    let is_local = name.name == "localhost" || name.name.ends_with(".localhost");
    if is_local || address.is_some_and(|address| address.is_loopback()) {
        return Err(wrong("Vapi cannot reach this machine under that name: set the public name of a tunnel or proxy"));
    }
    if address.is_some() && address == listen.map(|listen| listen.ip().to_canonical()) {
        return Err(wrong(
            "expected a name that is for Vapi alone, and this is the address of LEVEL3_LISTEN: page and API are not served under it",
        ));
    }
    if own.iter().any(|known| known.name.trim_end_matches('.') == name.name) {
        return Err(wrong(
            "expected a name that is for Vapi alone, and this one is in LEVEL3_ALLOWED_HOSTS: page and API are not served under it",
        ));
    }
    if url.path() != "/" || url.query().is_some() {
        return Err(wrong("expected the address without a path, like https://law.example.com"));
    }
    Ok((url, name))
}

#[cfg(test)]
mod tests;
