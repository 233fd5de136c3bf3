//! Tests of `postgres::logins::session`.

use super::*;

fn good() -> String {
    let settings: Vec<_> = SETTINGS.iter().map(|(.., shown)| *shown).collect();
    format!("me\nme\n{}", settings.join("\n"))
}

#[test]
fn a_session_is_strange_whose_login_setting_or_default_is_another() {
    assert_eq!(strange("me", &good(), "search_path=agent, shared\ntemp_file_limit=256MB"), None);
    for (session, defaults, said) in [
        (good().replacen("me", "you", 1), "", "another login"),
        (good().replace("15s", "0"), "", "`statement_timeout` is `0`"),
        (good(), "work_mem=2GB", "work_mem=2GB"),
        (good(), "statement_timeout=0", "statement_timeout=0"),
        (String::new(), "", "another login"),
    ] {
        let told = strange("me", &session, defaults).unwrap();
        assert!(told.contains(said), "{told}");
    }
}
