//! Why a request cannot be read, in words of the interface: which field it is, and which value is
//! expected there. Serde alone names types of this program, and no field.

use std::error::Error;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::error::Category;

use crate::domain::misfit;

/// The refusal of JSON that is no object.
pub(super) const NO_OBJECT: &str = "the body cannot be read: it must be a JSON object";

/// Why a body cannot be read as a `T`. The place is told of a fault in the JSON; of a value that
/// does not fit, the sentence names the field, and the place is one in a body that a person of the
/// command line or of the page never saw. Beside it that field of the body, and why it does not
/// fit.
pub(super) fn body<T: DeserializeOwned>(text: &[u8], error: &serde_json::Error) -> (String, Option<(String, String)>) {
    // A name in place of which something else stands is no fault of the JSON.
    let is_json = error.classify() == Category::Data || serde_json::from_slice::<IgnoredAny>(text).is_ok();
    if !is_json {
        return (format!("the body cannot be read: {error}"), None);
    }
    if !text.trim_ascii_start().starts_with(b"{") {
        return (NO_OBJECT.to_owned(), None);
    }
    // It is read once more, with the way to the value: that takes longer, and most bodies fit.
    let again = Json::<T>::from_bytes(text).err();
    let told = again.as_ref().and_then(Error::source).unwrap_or(error).to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let told = told.strip_suffix(&place).unwrap_or(&told);
    let (way, why) = way_and_fault(told);
    let field = way.map(|way| way.split(['.', '[']).next().unwrap_or(way).to_owned());
    (format!("the body cannot be taken: {}", in_words(told)), field.map(|field| (field, why)))
}

/// Why the part of an address behind the question mark cannot be read.
pub(super) fn query(error: &QueryRejection) -> String {
    let told = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    format!("the query cannot be read: {}", in_words(&told))
}

/// Serde's words, which may begin with the way to a field.
fn in_words(told: &str) -> String {
    match way_and_fault(told) {
        (Some(way), wrong) => format!("`{way}`: {wrong}"),
        (None, wrong) => wrong,
    }
}

fn way_and_fault(told: &str) -> (Option<&str>, String) {
    match told.split_once(": ") {
        Some((way, wrong)) if !way.contains([' ', '`']) => (Some(way).filter(|way| *way != "."), misfit(wrong)),
        _ => (None, misfit(told)),
    }
}

#[cfg(test)]
mod tests {
    use axum::extract::Query;
    use serde::Deserialize;

    use super::*;
    use crate::wire::api::{CampaignOrderForm, ConversationChange, NewConversation, PolicyChange, TaskOrder};

    fn refused<T: DeserializeOwned>(text: &str) -> String {
        read::<T>(text).0
    }

    fn read<T: DeserializeOwned>(text: &str) -> (String, Option<(String, String)>) {
        body::<T>(text.as_bytes(), &serde_json::from_str::<T>(text).err().expect("it does not fit"))
    }

    #[test]
    fn the_field_of_the_body_and_its_fault_stand_beside_the_sentence() {
        let (told, at) = read::<CampaignOrderForm>(r#"{"name": "x", "tasks": [{"description": "d"}, {"desc": "e"}]}"#);
        assert!(told.starts_with("the body cannot be taken: `tasks`: task 2: there is no field `desc`"), "{told}");
        let (field, why) = at.unwrap();
        assert!(field == "tasks" && why.starts_with("task 2: there is no field `desc`; the fields are `description`"), "{why}");
        assert_eq!(read::<NewConversation>(r#"{"from": {"conversation": 1}}"#).1.unwrap().0, "from");
        assert_eq!(read::<PolicyChange>(r#"{"budgets" 1}"#).1, None);
    }

    #[test]
    fn a_body_that_is_no_object_is_told_without_a_type_of_the_program() {
        for text in ["null", r#""x""#, "7", "true"] {
            assert_eq!(refused::<ConversationChange>(text), NO_OBJECT, "{text}");
        }
    }

    #[test]
    fn a_value_that_does_not_fit_is_told_with_its_field_and_without_a_place_in_the_text() {
        let told = refused::<ConversationChange>(r#"{"pinned": 1, "title": "x"}"#);
        assert_eq!(told, "the body cannot be taken: `pinned`: expected true or false, not 1");
        let told = refused::<NewConversation>(r#"{"from": "x"}"#);
        assert_eq!(told, "the body cannot be taken: `from`: expected an object, not the text \"x\"");
        let told = refused::<NewConversation>(r#"{"from": {"conversation": 1}}"#);
        assert_eq!(told, "the body cannot be taken: `from`: missing field `seq`");
        let told = refused::<TaskOrder>(r#"{"status": 5}"#);
        assert!(told.starts_with("the body cannot be taken: `status`: "), "{told}");
        let told = refused::<PolicyChange>(r#"{"budgets": {"tasks": {"percent_of_day": 101}}}"#);
        assert_eq!(told, "the body cannot be taken: `budgets`: `tasks`: percent_of_day is 100 at most");
        let told = refused::<PolicyChange>(r#"{"mode": 5}"#);
        assert_eq!(told, "the body cannot be taken: `mode`: a value of another kind is expected");
    }

    #[test]
    fn a_fault_in_the_json_is_told_with_its_place() {
        let told = refused::<PolicyChange>(r#"{"budgets" 1}"#);
        assert!(told.starts_with("the body cannot be read: expected `:` at line 1 column"), "{told}");
    }

    #[test]
    fn a_query_is_told_with_its_field() {
        #[derive(Debug, Deserialize)]
        #[expect(dead_code, reason = "it is only read")]
        struct Asked {
            q: String,
            limit: Option<i64>,
            archived: Option<bool>,
        }
        let refused = |address: &str| query(&Query::<Asked>::try_from_uri(&address.parse().unwrap()).unwrap_err());
        assert_eq!(refused("/"), "the query cannot be read: missing field `q`");
        assert_eq!(refused("/?q=a&limit=many"), "the query cannot be read: `limit`: a whole number is expected");
        assert_eq!(refused("/?q=a&archived=x"), "the query cannot be read: `archived`: true or false is expected");
    }
}
