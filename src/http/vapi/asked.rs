//! A request of Vapi's for the next words: of the whole conversation that it brings, the last
//! message of the person is new.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::domain::voice::VoiceLanguage;
use crate::domain::{MessageDoor, VoiceCallId};

/// The last words of the person, and how many messages they are.
#[derive(Debug, PartialEq)]
pub(super) struct AskedWords {
    /// How many messages of the person there are.
    pub(super) count: i32,
    /// The last of them.
    pub(super) text: String,
}

impl AskedWords {
    /// Reads a body, and in which language the server answers. Fields of others' are ignored;
    /// `None`: the person has said nothing yet.
    ///
    /// # Errors
    /// If it is no request for a completion.
    pub(super) fn read(body: &[u8]) -> Result<(Option<Self>, VoiceLanguage), ()> {
        let body: Value = serde_json::from_slice(body).map_err(|_| ())?;
        let messages = body["messages"].as_array().ok_or(())?;
        let said: Vec<String> =
            messages.iter().filter(|message| message["role"] == "user").map(|message| words(&message["content"])).collect();
        let count = i32::try_from(said.len()).unwrap_or(i32::MAX);
        // The server gave it to Vapi when the call was made.
        let language = VoiceLanguage::of(body["metadata"]["lang"].as_str().unwrap_or_default());
        let last = said.into_iter().next_back().filter(|text| !text.is_empty());
        Ok((last.map(|text| Self { count, text }), language))
    }

    /// The id of the message. A request that is sent again has the same; one with other words in
    /// the same place, since the person went on speaking, has not.
    pub(super) fn id(&self, call: VoiceCallId) -> String {
        message_id(call, self.count, &self.text)
    }
}

/// The id of a message of a call, by its place and its words.
pub(super) fn message_id(call: VoiceCallId, count: i32, text: &str) -> String {
    let digest = Sha256::digest(folded(text));
    MessageDoor::Vapi.id(format_args!("{call}-{count}-{}", hex::encode(&digest[..8])))
}

/// Words without what a transcriber writes now so and now so.
pub(super) fn folded(text: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() { letter } else { ' ' };
    text.to_lowercase().chars().map(plain).collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of a message, which may come in parts.
fn words(content: &Value) -> String {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join(" "),
        _ => String::new(),
    };
    text.trim().to_owned()
}

#[cfg(test)]
mod tests;
