//! Tests of `store::agent_sql::statement`.

use sqlx::{Postgres, Type};

use super::*;
use crate::domain::RefusalCode;

#[test]
fn the_first_word_is_found_behind_comments_and_brackets() {
    for (statement, word) in
        [("select 1", "SELECT"), ("/* a */ -- b\n ( SELECT 1 )", "SELECT"), ("with x as (select 1) table x", "WITH")]
    {
        assert_eq!(first_word(statement), Ok(word.to_owned()), "{statement}");
    }
}

#[test]
fn what_would_end_the_transaction_is_refused() {
    for statement in ["COMMIT", "/**/ commit and chain", "rollback", "END", "prepare transaction 'x'", "begin"] {
        let refused = first_word(statement).unwrap_err();
        assert_eq!(refused.code, RefusalCode::Refused, "{statement}");
    }
}

#[test]
fn copy_is_refused_with_the_statements_that_do_its_work() {
    let refused = first_word("/* all */ copy t FROM STDIN").unwrap_err();
    assert_eq!(refused.code, RefusalCode::Refused);
    assert!(refused.message.contains("INSERT") && refused.message.contains("SELECT"), "{}", refused.message);
}

#[test]
fn an_empty_query_says_what_to_give() {
    for nothing in ["", "  ", ";", " ;; ", "-- a thought", "/* one */ ; -- and another"] {
        assert_eq!(first_word(nothing).unwrap_err().message, "the SQL text is empty; give one SQL statement", "{nothing}");
    }
    // Postgres itself says what is wrong with these.
    for unread in ["'unfinished", "42"] {
        assert_eq!(first_word(unread), Ok(String::new()), "{unread}");
    }
}

#[test]
fn a_parameter_cannot_leave_its_quotes() {
    let text = <str as Type<Postgres>>::type_info();
    for (value, written) in [
        (json!("it's"), "E'it''s'"),
        (json!(r"\'; DROP TABLE t; --"), r"E'\\''; DROP TABLE t; --'"),
        (json!(null), "NULL"),
        (json!(3.0), "E'3'"),
        (json!(0.5), "E'0.5'"),
        (json!(true), "E'true'"),
        (json!({"a": "'"}), r#"E'{"a":"''"}'"#),
    ] {
        assert_eq!(literal(&value, &text), written);
    }
    let texts = <[String] as Type<Postgres>>::type_info();
    assert_eq!(literal(&json!(["a\"b\\", null, ["'"]]), &texts), r#"E'{"a\\"b\\\\",NULL,{"''"}}'"#);
}
