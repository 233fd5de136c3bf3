//! A conversation as a file, for a person to keep: as Markdown to read, or as the frames that
//! `/chat` sends.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::reply::{ApiRefusal, At, QueryString};
use crate::domain::{ConversationId, Origin};
use crate::facts::EventRecord;
use crate::http::visitor::Visitor;
use crate::store::StoreError;
use crate::wire::api::{BranchPoint, ConversationExport, ListedConversation};
use crate::wire::{Sequenced, ServerFrame};

/// How many events are read at once.
const PAGE: i64 = 1000;

/// The form of the file.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FileForm {
    #[default]
    Md,
    Json,
}

#[derive(Deserialize)]
pub(super) struct ExportQuery {
    #[serde(default)]
    format: FileForm,
}

pub(super) async fn export(
    visitor: Visitor,
    At(id): At<ConversationId>,
    QueryString(ExportQuery { format }): QueryString<ExportQuery>,
) -> Result<Response, ApiRefusal> {
    let (theirs, mains) = (visitor.theirs(), visitor.mains());
    let ListedConversation { title, from, .. } = theirs.conversation(&mains, id).await?;
    let title = title.unwrap_or_else(|| format!("Conversation {id}"));
    let mut frames = Vec::new();
    let mut after = 0;
    loop {
        let events = theirs.events_after(id, after, PAGE).await?;
        let Some(last) = events.last() else { break };
        after = last.sequence;
        frames.extend(events.iter().filter_map(EventRecord::frame));
    }
    let (kind, end, text) = match format {
        FileForm::Md => {
            let before = match from {
                Some(from) => Some(goes_on_from(from, titled(theirs.conversation(&mains, from.conversation).await)?.as_deref())),
                None => None,
            };
            ("text/markdown; charset=utf-8", "md", markdown(&title, before, &frames))
        }
        FileForm::Json => {
            let whole = ConversationExport { conversation: id, frames, from, title };
            ("application/json", "json", whole.file())
        }
    };
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"conversation-{id}.{end}\"")),
    ];
    Ok((headers, text).into_response())
}

/// The title of a conversation, if a list has it.
fn titled(found: Result<ListedConversation, StoreError>) -> Result<Option<String>, StoreError> {
    match found {
        Ok(listed) => Ok(listed.title),
        Err(StoreError::NoConversation(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The paragraph of a branch that names the conversation with the turns before it.
fn goes_on_from(BranchPoint { conversation, seq }: BranchPoint, title: Option<&str>) -> String {
    let titled = title.map(|title| format!(", “{}”", first_line(title))).unwrap_or_default();
    quoted(&format!("It goes on from frame {seq} of conversation {conversation}{titled}; the turns before are there."))
}

fn first_line(title: &str) -> &str {
    title.lines().next().unwrap_or_default()
}

/// The words and the deeds of a conversation, one paragraph after the other; `before` stands first.
fn markdown(title: &str, before: Option<String>, frames: &[Sequenced]) -> String {
    let mut text = format!("# {}\n", first_line(title));
    if let Some(before) = before {
        text.push_str(&format!("\n{before}\n"));
    }
    let (mut is_order, mut told) = (false, ["", ""]);
    for frame in frames {
        match &frame.frame {
            ServerFrame::Turn { origin: Some(origin), .. } => is_order = *origin == Origin::Command,
            ServerFrame::ToolResult { said, result, .. } => told = [said.as_str(), result.as_str()],
            // The last words of an order are those of its call; of an old one, those for a model.
            ServerFrame::Assistant { content, .. } if is_order && told.contains(&content.as_str()) => continue,
            _ => {}
        }
        if let Some(part) = part(frame) {
            text.push('\n');
            text.push_str(part.trim_end());
            text.push('\n');
        }
    }
    text
}

/// The paragraph that a frame becomes; `None` for one that says nothing to a reader.
fn part(Sequenced { frame, at, .. }: &Sequenced) -> Option<String> {
    let at = at.format("%Y-%m-%d %H:%M UTC");
    match frame {
        // The content of a turn that no person began is for the model; `Fired` has the words of
        // tasks for a person.
        ServerFrame::Turn { origin: Some(Origin::Task | Origin::FollowUp | Origin::Cycle), .. } => None,
        ServerFrame::Turn { origin, content: Some(content), images, .. } => {
            let who = if *origin == Some(Origin::Command) { "Order" } else { "You" };
            let images: String = images.iter().map(|image| format!("\n\n*({})*", image.words())).collect();
            Some(format!("## {who}, {at}\n\n{content}{images}"))
        }
        ServerFrame::Turn { reason: Some(reason), .. } => Some(quoted(reason)),
        ServerFrame::Assistant { unproven: true, last: false, .. } => None,
        ServerFrame::Assistant { content, stopped, .. } => {
            let mark = if *stopped { "\n\n*(stopped here)*" } else { "" };
            Some(format!("## Assistant, {at}\n\n{content}{mark}"))
        }
        ServerFrame::ToolResult { name, said, .. } => Some(quoted(&format!("`{name}`: {said}"))),
        ServerFrame::Undone { rows, .. } => Some(quoted(&format!("You put back {rows} rows."))),
        ServerFrame::Error { content, .. }
        | ServerFrame::Fired { content, .. }
        | ServerFrame::Held { content, .. }
        | ServerFrame::Timer { content, .. }
        | ServerFrame::Reminder { content, .. } => Some(quoted(content)),
        _ => None,
    }
}

fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}
