//! Tests of `model::stream`.

use super::*;
use serde_json::json;

fn read(pieces: &[&[u8]]) -> Result<Vec<Found>, StreamError> {
    let mut reader = EventReader::new(100);
    let mut found = Vec::new();
    for piece in pieces {
        reader.push(piece, &mut found)?;
    }
    reader.end(&mut found)?;
    Ok(found)
}

fn object(number: i32) -> Found {
    Found::Object(json!({ "a": number }))
}

#[test]
fn any_line_end_will_do_also_when_split_in_the_middle() {
    for text in [
        "data: {\"a\":1}\n\ndata:{\"a\":2}\n\n",
        "data: {\"a\":1}\r\n\r\ndata:{\"a\":2}\r\n\r\n",
        "data: {\"a\":1}\r\rdata:{\"a\":2}\r\r",
    ] {
        assert_eq!(read(&[text.as_bytes()]), Ok(vec![object(1), object(2)]), "{text:?}");
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(read(&bytes), Ok(vec![object(1), object(2)]), "{text:?} byte by byte");
    }
}

#[test]
fn comments_other_fields_and_pings_are_passed_over() {
    let text = b": OPENROUTER PROCESSING\n\nevent: ping\ndata: ping\nid: 1\n\ndata:\n\n\ndata: {\"a\":1}\n\ndata: [DONE]\n\n";
    assert_eq!(read(&[text]), Ok(vec![object(1), Found::Done]));
}

#[test]
fn blank_lines_may_be_missing_and_an_object_may_span_lines() {
    assert_eq!(read(&[b"data: {\"a\":1}\ndata: {\"a\":2}\n"]), Ok(vec![object(1), object(2)]));
    for text in ["data: {\"a\":\ndata: 1}\n\n", "data: {\"a\":\r\ndata: 1}\r\n\r\n"] {
        assert_eq!(read(&[text.as_bytes()]), Ok(vec![object(1)]), "{text:?}");
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(read(&bytes), Ok(vec![object(1)]), "{text:?} byte by byte");
    }
}

#[test]
fn a_last_line_without_an_end_counts_when_it_is_whole() {
    assert_eq!(read(&[b"data: {\"a\":1}"]), Ok(vec![object(1)]));
    assert_eq!(read(&[b"data: {\"a\":1"]), Ok(vec![]));
}

#[test]
fn bytes_that_are_no_utf8_are_marked_not_fatal() {
    assert_eq!(read(&[b"data: {\"a\":\"\xff\"}\n\n"]), Ok(vec![Found::Object(json!({ "a": "\u{fffd}" }))]));
}

#[test]
fn a_broken_piece_and_an_endless_line_are_refused() {
    assert_eq!(read(&[b"data: {\"a\":1\n\n"]), Err(StreamError::BrokenJson));
    assert_eq!(read(&[&[b'x'; 101]]), Err(StreamError::LineTooLong(100)));
    let lines = b"data: {\"a\":1\n".repeat(20);
    assert_eq!(read(&[&lines]), Err(StreamError::LineTooLong(100)));
}

#[test]
fn many_small_lines_are_read_in_no_time() {
    // Each of these would be looked at again and again, from its beginning, by a reader that is not
    // careful.
    for line in ["data: \n", "data: ,\"a\":{}\n", "data: }\n", "data:\n", "data: [\n"] {
        let mut reader = EventReader::new(4 << 20);
        let mut found = Vec::new();
        reader.push(b"data: {\"a\":1\n", &mut found).unwrap();
        let read = reader.push(line.repeat(200_000).as_bytes(), &mut found);
        assert!(read.is_ok() && found.len() <= 1, "{line:?}");
    }
}

#[test]
fn only_a_line_with_an_object_is_a_piece_on_its_way() {
    for (line, inside) in
        [("data: {", true), ("data:{\"a\"", true), ("data: ", false), ("data: ping", false), (": {", false), ("data: {\n", false)]
    {
        let mut reader = EventReader::new(100);
        reader.push(line.as_bytes(), &mut Vec::new()).unwrap();
        assert_eq!(reader.inside_object(), inside, "{line:?}");
    }
}
