//! The messages of a request, taken apart: the input, the history before it, and the fingerprints
//! by which both are found again.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::refusal::V1Refusal;
use crate::http::images;
use crate::store::{Fingerprint, NewImage};
use crate::wire::MAX_IMAGES;
use crate::wire::v1::GivenMessage;

/// The longest history.
const MAX_MESSAGES: usize = 2000;

/// A history, taken apart.
#[derive(Debug)]
pub(super) struct ClientHistory {
    /// Fingerprint of the messages before the input; `None` if there are none.
    pub(super) before: Option<Fingerprint>,
    /// Fingerprint of all messages.
    pub(super) asked: Fingerprint,
    /// The messages before the input, as the agent is told of them; empty if there are none.
    pub(super) earlier: String,
    /// Their newest images, as many as there is room for beside those of the input.
    pub(super) earlier_images: Vec<NewImage>,
    /// The user's messages behind the last answer.
    pub(super) input: String,
    /// Their images.
    pub(super) images: Vec<NewImage>,
    /// The system messages, wherever they stand. They may change with each request (a date), so
    /// they are no part of the fingerprints.
    pub(super) instructions: String,
}

/// A message as the client gave it.
struct Given {
    at: usize,
    role: String,
    text: String,
    pictures: Vec<Picture>,
}

/// An image of a message.
struct Picture {
    /// The number of the message's part that it is.
    part: usize,
    /// Stands for the image in a fingerprint: the hash of its bytes, or its address if it has none.
    name: String,
    /// The image itself, or the reason against it.
    taken: Result<NewImage, String>,
}

impl ClientHistory {
    pub(super) fn read(messages: Vec<GivenMessage>) -> Result<Self, V1Refusal> {
        if messages.len() > MAX_MESSAGES {
            let told = format!("the history has {} messages; {MAX_MESSAGES} is the most", messages.len());
            return Err(V1Refusal::bad(told).at("messages").code("context_length_exceeded"));
        }
        let (mut instructions, mut said) = (Vec::new(), Vec::new());
        for (at, message) in messages.into_iter().enumerate() {
            let given = given(message, at)?;
            match given.role.as_str() {
                "system" | "developer" => instructions.push(given.text),
                "user" | "assistant" | "tool" | "function" => said.push(given),
                other => {
                    let told = format!("`{other}` is no role; there are system, developer, user, assistant and tool");
                    return Err(V1Refusal::bad(told).at(format!("messages[{at}].role")));
                }
            }
        }
        let begins = said.iter().rposition(|given| given.role == "assistant").map_or(0, |at| at + 1);
        let input = said.split_off(begins);
        if let Some(Given { at, .. }) = input.iter().find(|given| given.role != "user") {
            let told = "level3 runs its own tools: a result of a tool cannot be the input";
            return Err(V1Refusal::bad(told).at(format!("messages[{at}].role")));
        }
        if input.iter().all(|given| given.text.trim().is_empty() && given.pictures.is_empty()) {
            let told = "there is nothing to react to: the last message must be the user's, with text or an image";
            return Err(V1Refusal::bad(told).at("messages"));
        }
        let before = (!said.is_empty()).then(|| chain(Fingerprint::default(), &said));
        let asked = chain(before.unwrap_or_default(), &input);
        let (input, images) = taken(input)?;
        let (earlier, earlier_images) = retold(said, MAX_IMAGES - images.len());
        Ok(Self { before, asked, earlier, earlier_images, input, images, instructions: instructions.join("\n\n") })
    }
}

/// Text and images of a message.
fn given(GivenMessage { role, content }: GivenMessage, at: usize) -> Result<Given, V1Refusal> {
    let parts = match content {
        Value::Null => Vec::new(),
        Value::String(text) => return Ok(Given { at, role, text, pictures: Vec::new() }),
        Value::Array(parts) => parts,
        _ => return Err(V1Refusal::bad("`content` must be text or a list of parts").at(format!("messages[{at}].content"))),
    };
    let (mut texts, mut pictures) = (Vec::new(), Vec::new());
    for (part, content) in parts.into_iter().enumerate() {
        let url = || content["image_url"]["url"].as_str().or_else(|| content["image_url"].as_str());
        match (content["type"].as_str(), &content["text"], &content["refusal"]) {
            (Some("text" | "input_text" | "output_text"), Value::String(text), _) => texts.push(text.clone()),
            (Some("refusal"), _, Value::String(text)) => texts.push(text.clone()),
            (Some("image_url" | "input_image"), ..) if role == "user" && url().is_some() => {
                pictures.push(picture(part, url().unwrap_or_default()));
            }
            (kind, ..) => {
                let kind = kind.unwrap_or("without a type");
                let told =
                    format!("a part `{kind}` is not supported here: send text, or, as a user's, an `image_url` with its `url`");
                return Err(unsupported(told, at, part));
            }
        }
    }
    Ok(Given { at, role, text: texts.join("\n"), pictures })
}

fn unsupported(told: String, at: usize, part: usize) -> V1Refusal {
    V1Refusal::bad(told).at(format!("messages[{at}].content[{part}]")).code("unsupported_content")
}

fn picture(part: usize, url: &str) -> Picture {
    let taken = images::read_url(url);
    let name = match &taken {
        Ok(new) => new.image.sha256.clone(),
        Err(_) => hex::encode(Sha256::digest(url)),
    };
    Picture { part, name, taken }
}

/// Text and images of the input. An image that is not taken refuses the request.
fn taken(input: Vec<Given>) -> Result<(String, Vec<NewImage>), V1Refusal> {
    let count = input.iter().map(|given| given.pictures.len()).sum();
    images::few(count).map_err(|why| V1Refusal::bad(why).at("messages").code("unsupported_content"))?;
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for Given { at, text, pictures, .. } in input {
        texts.push(text);
        for Picture { part, taken, .. } in pictures {
            let number = images.len() + 1;
            let image = taken.map_err(|why| unsupported(format!("image {number} {why}"), at, part))?;
            images.push(image);
        }
    }
    Ok((texts.join("\n\n"), images))
}

/// The messages before the input, as text for a conversation that does not hold them, and the
/// newest of their images, for which there is `room`. A client sends its history with every
/// request, so nothing in it refuses one.
fn retold(earlier: Vec<Given>, room: usize) -> (String, Vec<NewImage>) {
    if earlier.is_empty() {
        return (String::new(), Vec::new());
    }
    let good = earlier.iter().flat_map(|given| &given.pictures).filter(|picture| picture.taken.is_ok()).count();
    let mut too_old = good.saturating_sub(room);
    let (mut said, mut images) = (Vec::with_capacity(earlier.len()), Vec::new());
    for Given { role, text, pictures, .. } in earlier {
        let mut lines = vec![format!("{role}: {}", text.trim())];
        for picture in pictures {
            lines.push(match picture.taken {
                Ok(_) if too_old > 0 => {
                    too_old -= 1;
                    "[an image, which is not sent along any more]".to_owned()
                }
                Ok(image) => {
                    images.push(image);
                    format!("[image {}, which comes with this message]", images.len())
                }
                Err(_) => "[an image, which was not given to level3]".to_owned(),
            });
        }
        said.push(lines.join("\n"));
    }
    let text = format!(
        "[Earlier messages, as the client gives them: not recorded here, and nothing in them was done here]\n{}\n[End of the earlier messages]",
        said.join("\n\n")
    );
    (text, images)
}

/// The fingerprint of a history that these messages make longer.
fn chain(before: Fingerprint, said: &[Given]) -> Fingerprint {
    said.iter().fold(before, |before, given| {
        let text = link(&before, &given.role, &given.text);
        // No message has the role `image`.
        given.pictures.iter().fold(text, |before, picture| link(&before, "image", &picture.name))
    })
}

/// The fingerprint of a history that one message makes longer. Clients trim the texts they keep, so
/// blanks around a text do not count.
pub(super) fn link(before: &Fingerprint, role: &str, text: &str) -> Fingerprint {
    let text = text.replace("\r\n", "\n");
    Sha256::new().chain_update(before).chain_update(role).chain_update([0]).chain_update(text.trim()).finalize().into()
}

#[cfg(test)]
mod tests;
