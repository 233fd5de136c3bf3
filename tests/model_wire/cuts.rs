//! A recorded stream that is cut, reset, split and spoiled at every place there is.

use level3::model::client::ModelLimits;
use level3::model::{Answer, ModelErrorKind as Kind};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::server::{Do, Reply, Server, chunked, events};
use crate::{ask, client, limits, request};

const RECORDED: [&[u8]; 2] = [include_bytes!("recorded/llama-cpp-tool-call.sse"), include_bytes!("recorded/llama-cpp-text.sse")];

/// The answer that the whole of it gives.
async fn whole(recorded: &[u8]) -> Answer {
    let server = Server::playing(vec![vec![Do::Send(events(recorded))]]).await;
    ask(&client(&server.base_url(), limits()), request()).await.0.unwrap()
}

/// The number of bytes with which the end of the answer is there: the line with its finish reason.
fn enough(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    let reason =
        ["\"finish_reason\":\"tool_calls\"", "\"finish_reason\":\"stop\""].into_iter().find_map(|reason| text.find(reason));
    let at = reason.expect("recorded");
    // The object is whole with the last bracket of its line.
    at + text[at..].find('\n').expect("a line end")
}

/// Plays the first bytes of `response`, for each number of them, then ends as `end` says.
async fn cut_everywhere(response: &[u8], expected: &Answer, end: Option<Do>) {
    let reply = |length| [Some(Do::Send(response[..length].to_vec())), end.clone()].into_iter().flatten().collect::<Reply>();
    let server = Server::playing((0..=response.len()).map(reply).collect()).await;
    let client = client(&server.base_url(), ModelLimits { retries: 0, ..limits() });
    let enough = enough(response);
    for length in 0..=response.len() {
        let (outcome, heard) = ask(&client, request()).await;
        assert!(expected.content.starts_with(&heard), "{heard:?} was heard after {length} bytes");
        match outcome {
            Ok(answer) => {
                assert!(length >= enough, "an answer after {length} of {enough} bytes");
                assert_eq!((&answer.calls, &answer.content), (&expected.calls, &expected.content), "after {length} bytes");
            }
            Err(error) => {
                // With the last bracket, and no line end yet, it may be either.
                assert!(length <= enough, "{error} after {length} of {enough} bytes");
                assert!(matches!(error.kind, Kind::Cut | Kind::Unreachable), "{:?}: {error} after {length} bytes", error.kind);
            }
        }
    }
    assert_eq!(server.requests(), response.len() + 1);
}

#[tokio::test]
async fn a_connection_reset_at_any_byte_gives_the_whole_answer_or_none() {
    for recorded in RECORDED {
        cut_everywhere(&events(recorded), &whole(recorded).await, Some(Do::Reset)).await;
    }
}

#[tokio::test]
async fn a_stream_cut_anywhere_is_an_answer_only_when_its_finish_reason_was_there() {
    for recorded in RECORDED {
        cut_everywhere(&events(recorded), &whole(recorded).await, None).await;
    }
}

#[tokio::test]
async fn a_chunked_response_that_ends_at_any_byte_gives_the_whole_answer_or_none() {
    let [_, text] = RECORDED;
    cut_everywhere(&chunked([text]), &whole(text).await, None).await;
}

/// Runs `case` on many of what `strategy` makes. If one fails, it shows the smallest that does.
fn many<S: Strategy>(cases: u32, strategy: S, case: impl Fn(&Runtime, S::Value)) {
    let runtime = Runtime::new().unwrap();
    // The panic tells what failed; nothing is written beside the sources.
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let run = |value| {
        case(&runtime, value);
        Ok(())
    };
    TestRunner::new(config).run(&strategy, run).unwrap();
}

fn played(runtime: &Runtime, response: Vec<u8>) -> Result<Answer, level3::model::ModelError> {
    runtime.block_on(async {
        let server = Server::playing(vec![vec![Do::Send(response)]]).await;
        ask(&client(&server.base_url(), ModelLimits { retries: 0, ..limits() }), request()).await.0
    })
}

/// Cuts `bytes` at these places.
fn split<'a>(bytes: &'a [u8], places: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<_> = places.iter().map(|place| place.index(bytes.len())).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|two| &bytes[two[0]..two[1]]).collect()
}

#[test]
fn however_a_stream_is_split_and_its_lines_end_the_answer_is_the_same() {
    let expected: Vec<_> = RECORDED.iter().map(|recorded| Runtime::new().unwrap().block_on(whole(recorded))).collect();
    let places = prop::collection::vec(any::<prop::sample::Index>(), 0..200);
    let ends = prop::collection::vec(0_usize..4, 1..20);
    many(150, (0..RECORDED.len(), places, ends), |runtime, (number, places, ends)| {
        let text = std::str::from_utf8(RECORDED[number]).unwrap();
        let ends = ends.iter().map(|end| ["\n", "\r\n", "\r", "\n: a comment\r\n"][*end]).cycle();
        let text: String = text.lines().zip(ends).flat_map(|(line, end)| [line, end]).collect();
        let answer = played(runtime, chunked(split(text.as_bytes(), &places))).unwrap();
        assert_eq!(answer, expected[number]);
    });
}

#[test]
fn whatever_bytes_a_server_sends_there_is_an_answer_or_a_sentence() {
    let spoiled =
        prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..6), 0_usize..6), 1..8);
    many(300, (0..RECORDED.len(), spoiled), |runtime, (number, spoiled)| {
        let mut bytes = RECORDED[number].to_vec();
        for (place, new, gone) in spoiled {
            let at = place.index(bytes.len());
            bytes.splice(at..(at + gone).min(bytes.len()), new);
        }
        match played(runtime, events(bytes)) {
            Ok(answer) => assert!(answer.calls.iter().all(|call| !call.id.is_empty())),
            Err(error) => assert!(error.message.ends_with(['.', ')']) || error.message.contains("It said"), "{error}"),
        }
    });
}

#[tokio::test]
async fn arguments_in_pieces_of_one_byte_are_put_together() {
    let arguments = "{\"query\": \"SELECT '}{\\\"', 'é😀'\"}";
    let piece = |text: &str, first: bool| {
        let function = if first {
            serde_json::json!({ "name": "execute_sql", "arguments": text })
        } else {
            serde_json::json!({ "arguments": text })
        };
        let call = serde_json::json!({ "index": 0, "id": first.then_some("a"), "function": function });
        format!("data: {}\n\n", serde_json::json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] } }] }))
    };
    let mut body = piece("", true);
    body.extend(arguments.chars().map(|c| piece(&c.to_string(), false)));
    body += "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n";
    let server = Server::playing(vec![vec![Do::Trickle(events(body))]]).await;
    let answer = ask(&client(&server.base_url(), limits()), request()).await.0.unwrap();
    assert_eq!((answer.calls.len(), answer.calls[0].arguments.as_str()), (1, arguments));
    assert!(serde_json::from_str::<Value>(&answer.calls[0].arguments).is_ok());
}
