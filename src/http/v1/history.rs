//! The messages of a request, taken apart: the input, the history before it, and the fingerprints
//! by which both are found again.

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::refusal::Refusal;
use crate::http::images;
use crate::store::{Fingerprint, NewImage};
use crate::wire::MAX_IMAGES;
use crate::wire::v1::GivenMessage;

/// The longest history.
const MAX_MESSAGES: usize = 2000;

/// A history, taken apart.
#[derive(Debug)]
pub(super) struct History {
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

impl History {
    pub(super) fn read(messages: Vec<GivenMessage>) -> Result<Self, Refusal> {
        if messages.len() > MAX_MESSAGES {
            let told = format!("the history has {} messages; {MAX_MESSAGES} is the most", messages.len());
            return Err(Refusal::bad(told).at("messages").code("context_length_exceeded"));
        }
        let (mut instructions, mut said) = (Vec::new(), Vec::new());
        for (at, message) in messages.into_iter().enumerate() {
            let given = given(message, at)?;
            match given.role.as_str() {
                "system" | "developer" => instructions.push(given.text),
                "user" | "assistant" | "tool" | "function" => said.push(given),
                other => {
                    let told = format!("`{other}` is no role; there are system, developer, user, assistant and tool");
                    return Err(Refusal::bad(told).at(format!("messages[{at}].role")));
                }
            }
        }
        let begins = said.iter().rposition(|given| given.role == "assistant").map_or(0, |at| at + 1);
        let input = said.split_off(begins);
        if let Some(Given { at, .. }) = input.iter().find(|given| given.role != "user") {
            let told = "level3 runs its own tools: a result of a tool cannot be the input";
            return Err(Refusal::bad(told).at(format!("messages[{at}].role")));
        }
        if input.iter().all(|given| given.text.trim().is_empty() && given.pictures.is_empty()) {
            let told = "there is nothing to react to: the last message must be the user's, with text or an image";
            return Err(Refusal::bad(told).at("messages"));
        }
        let before = (!said.is_empty()).then(|| chain(Fingerprint::default(), &said));
        let asked = chain(before.unwrap_or_default(), &input);
        let (input, images) = taken(input)?;
        let (earlier, earlier_images) = retold(said, MAX_IMAGES - images.len());
        Ok(Self { before, asked, earlier, earlier_images, input, images, instructions: instructions.join("\n\n") })
    }
}

/// Text and images of a message.
fn given(GivenMessage { role, content }: GivenMessage, at: usize) -> Result<Given, Refusal> {
    let parts = match content {
        Value::Null => Vec::new(),
        Value::String(text) => return Ok(Given { at, role, text, pictures: Vec::new() }),
        Value::Array(parts) => parts,
        _ => return Err(Refusal::bad("`content` must be text or a list of parts").at(format!("messages[{at}].content"))),
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

fn unsupported(told: String, at: usize, part: usize) -> Refusal {
    Refusal::bad(told).at(format!("messages[{at}].content[{part}]")).code("unsupported_content")
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
fn taken(input: Vec<Given>) -> Result<(String, Vec<NewImage>), Refusal> {
    let count = input.iter().map(|given| given.pictures.len()).sum();
    images::few(count).map_err(|why| Refusal::bad(why).at("messages").code("unsupported_content"))?;
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
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    use super::*;

    fn read(messages: Value) -> Result<History, Value> {
        let messages = serde_json::from_value(messages).unwrap();
        History::read(messages).map_err(|refusal| json!(refusal.into_event())["error"].take())
    }

    fn say(messages: Value) -> History {
        read(messages).unwrap()
    }

    /// A small image with this last byte.
    fn png(last: u8) -> Value {
        let data = STANDARD.encode([b"\x89PNG\r\n\x1a\n", &[last][..]].concat());
        json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}"), "detail": "auto"}})
    }

    fn last_bytes(images: &[NewImage]) -> Vec<u8> {
        images.iter().map(|new| *new.bytes.last().unwrap()).collect()
    }

    #[test]
    fn what_follows_the_last_answer_is_the_input() {
        let read = say(json!([
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "one"}, {"role": "assistant", "content": "two"},
            {"role": "user", "content": [{"type": "text", "text": "three"}, png(1), {"type": "text", "text": "four"}]},
            {"role": "user", "content": "five"},
            {"role": "user", "content": [png(2)]},
        ]));
        assert_eq!((read.input.trim(), last_bytes(&read.images)), ("three\nfour\n\nfive", vec![1, 2]));
        assert!(read.earlier.contains("\nuser: one\n\nassistant: two\n"), "{}", read.earlier);
        assert_eq!(read.instructions, "be kind");
    }

    #[test]
    fn an_answer_that_is_sent_back_is_the_history_that_was_foretold() {
        let asks = json!({"role": "user", "content": [{"type": "text", "text": "one"}, png(1)]});
        let first = say(json!([asks]));
        assert_eq!(first.before, None);
        let told = link(&first.asked, "assistant", "two\r\nlines ");
        let next = json!([asks, {"role": "assistant", "content": "two\nlines"}, {"role": "user", "content": "x"}]);
        assert_eq!(say(next.clone()).before, Some(told));
        let without = json!("one");
        let other_image = json!([{"type": "text", "text": "one"}, png(2)]);
        let other_text = json!([{"type": "text", "text": "ona"}, png(1)]);
        let forks = [(0, "content", without), (0, "content", other_image), (0, "content", other_text)];
        for (at, field, other) in forks.into_iter().chain([(1, "content", json!("two lines"))]) {
            let mut forked = next.clone();
            forked[at][field] = other;
            assert_ne!(say(forked.clone()).before, Some(told), "{forked}");
        }
        // The same bytes are the same image, however they are encoded.
        let mut other = next;
        let url = other[0]["content"][1]["image_url"]["url"].as_str().unwrap().replace("image/png;", "image/png;name=x;");
        other[0]["content"][1] = json!({"type": "input_image", "image_url": url});
        assert_eq!(say(other).before, Some(told));
    }

    #[test]
    fn the_newest_images_of_a_history_come_along_and_nothing_in_it_refuses_a_request() {
        let far = json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}});
        let read = say(json!([
            {"role": "user", "content": [png(1), png(2), far]}, {"role": "assistant", "content": "ok"},
            {"role": "user", "content": [{"type": "text", "text": "and"}, png(3)]}, {"role": "assistant", "content": "ok"},
            {"role": "user", "content": [png(4), png(5)]},
        ]));
        assert_eq!((last_bytes(&read.earlier_images), last_bytes(&read.images)), (vec![2, 3], vec![4, 5]));
        let lines = "user: \n[an image, which is not sent along any more]\n[image 1, which comes with this message]\n\
                     [an image, which was not given to level3]\n\nassistant: ok\n\nuser: and\n[image 2, which comes with this message]\n";
        assert!(read.earlier.contains(lines), "{}", read.earlier);
    }

    #[test]
    fn a_wrong_message_is_named() {
        let with = |url: Value| json!([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": url}]}]);
        let image = json!({"role": "user", "content": [png(1), png(2), png(3)]});
        for (messages, param, told) in [
            (json!([]), "messages", "nothing to react to"),
            (json!([{"role": "user", "content": "  "}]), "messages", "nothing to react to"),
            (json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]), "messages", "nothing"),
            (json!([{"role": "robot", "content": "a"}]), "messages[0].role", "no role"),
            (json!([{"role": "user", "content": "a"}, {"role": "tool", "content": "b"}]), "messages[1].role", "its own tools"),
            (json!([{"role": "user", "content": 7}]), "messages[0].content", "list of parts"),
            (json!([{"role": "user", "content": [{"type": "input_audio"}]}]), "messages[0].content[0]", "`input_audio`"),
            (json!([{"role": "assistant", "content": [png(1)]}]), "messages[0].content[0]", "as a user's"),
            (with(Value::Null), "messages[0].content[1]", "with its `url`"),
            (with(json!({"url": "https://x.example/a.png"})), "messages[0].content[1]", "image 1 is an address"),
            (with(json!("data:image/png;base64,AAAA")), "messages[0].content[1]", "image 1 is not image/png"),
            (json!([image, image]), "messages", "6 images; 4 is the most"),
        ] {
            let error = read(messages).unwrap_err();
            assert_eq!(error["param"], param, "{error}");
            assert!(error["message"].as_str().unwrap().contains(told), "{error}");
            let unsupported = param.ends_with(']') || told.contains("images");
            assert_eq!(error["code"] == "unsupported_content", unsupported, "{error}");
        }
    }
}
