//! Tests of `store::agent_sql::told`.

use super::*;

#[test]
fn a_hint_does_not_depend_on_the_language_of_the_database() {
    let hint = |code, routine, message| own_hint(code, routine, message).unwrap_or_default();
    for said in ["cannot insert multiple commands into a prepared statement", "non si possono inserire comandi multipli"] {
        assert!(hint("42601", Some(READS_ONE), said).contains("takes one statement in a call"), "{said}");
    }
    assert!(hint("42601", Some(COUNTS_VALUES), "numero errato di parametri").contains("Give one parameter"));
    assert_eq!(own_hint("42601", Some("scanner_yyerror"), "multiple commands, wrong number of parameters"), None);
    // Names stay as they are.
    assert!(hint(FORBIDDEN, Some("aclcheck_error"), "permesso negato per la tabella tasks").contains(MANAGE_TASKS));
}
