//! The file `model-key` of a home: the key of its model, and below it the place that the key was
//! given for. It goes to no other.

/// The beginning of the line below a key that names its place.
const KEY_OF: &str = "for ";

/// A key as its file has it.
pub(super) struct KeptKey {
    /// The key.
    pub(super) key: String,
    /// The place that it was given for; `None` if a person wrote the file without.
    pub(super) place: Option<String>,
}

impl KeptKey {
    /// Reads the text of the file; `None` if there is no key in it.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (key, below) = text.trim().split_once('\n').unwrap_or((text.trim(), ""));
        let place = below.trim().strip_prefix(KEY_OF).map(str::to_owned);
        let key = key.trim().to_owned();
        (!key.is_empty()).then_some(Self { key, place })
    }

    /// The text of the file for a key.
    pub(super) fn written(key: &str, place: &str) -> String {
        format!("{}\n{KEY_OF}{place}\n", key.trim())
    }
}

/// The place that the key of a model is for, in words.
pub(super) fn key_place(provider: Option<&str>, base_url: Option<&str>) -> String {
    let said = |field: Option<&str>| field.unwrap_or_default().trim().to_owned();
    let (provider, address) = (said(provider).to_lowercase(), said(base_url));
    match (provider.as_str(), address.trim_end_matches('/')) {
        ("", "") => "no provider by name".to_owned(),
        (provider, "") => provider.to_owned(),
        ("", address) => address.to_owned(),
        (provider, address) => format!("{provider} at {address}"),
    }
}
