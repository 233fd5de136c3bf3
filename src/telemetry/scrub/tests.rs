//! Tests of `telemetry::scrub`.

use serde_json::json;

use super::*;

const TOKEN: &str = "s3cr3t/+\"<&>' ü~:token";

fn scrubber(secrets: &[(&str, &str)]) -> Scrubber {
    let secrets: Vec<_> = secrets.iter().map(|(name, value)| ((*name).to_owned(), SecretString::from(*value))).collect();
    Scrubber::new(&secrets)
}

#[test]
fn without_secrets_the_text_is_handed_back_untouched() {
    for scrubber in [Scrubber::default(), scrubber(&[("EMPTY", "")])] {
        assert!(matches!(scrubber.clean("any text"), Cow::Borrowed("any text")));
        assert!(matches!(scrubber.clean_bytes(b"\xff\x00"), Cow::Borrowed(b"\xff\x00")));
    }
    assert!(matches!(scrubber(&[("A", "the-value")]).clean("any text"), Cow::Borrowed(_)));
}

#[test]
fn the_number_of_the_values_is_another_one_after_each_change_and_the_same_for_all_clones() {
    let scrubber = Scrubber::default();
    let clone = scrubber.clone();
    let editions = [None, Some("the-value"), None].map(|value| {
        scrubber.set(&value.map(|value| ("A".to_owned(), SecretString::from(value))).into_iter().collect::<Vec<_>>());
        assert_eq!(clone.edition(), scrubber.edition());
        clone.edition()
    });
    assert!(editions[0] < editions[1] && editions[1] < editions[2], "{editions:?}");
}

#[test]
fn the_longest_values_of_one_letter_are_known_at_once() {
    // A finder whose making grows with the square of a value takes minutes for these.
    let long = "x".repeat(8 * 1024);
    let secrets = [("A", long.as_str()), ("B", &long[1..]), ("C", &long[2..])];
    assert_eq!(scrubber(&secrets).clean(&format!("<{long}>")), "<[secret A]>");
}

#[test]
fn every_form_that_others_write_a_value_in_is_hidden() {
    let scrubber = scrubber(&[("TOKEN", TOKEN)]);
    for written in [
        TOKEN,
        r#"s3cr3t/+\"<&>' ü~:token"#,
        r#"s3cr3t\/+\"<&>' ü~:token"#,
        r#"s3cr3t/+\"<&>' \u00fc~:token"#,
        r#"s3cr3t/+\"<&>' \u00FC~:token"#,
        r#"s3cr3t/+\\\"<&>' ü~:token"#,
        "s3cr3t%2F%2B%22%3C%26%3E%27%20%C3%BC~%3Atoken",
        "s3cr3t%2f%2b%22%3c%26%3e%27%20%c3%bc~%3atoken",
        "s3cr3t%2F%2B%22%3C%26%3E'%20%C3%BC~%3Atoken",
        "s3cr3t%2F%2B%22%3C%26%3E%27+%C3%BC%7E%3Atoken",
        "s3cr3t%2f%2b%22%3c%26%3e%27+%c3%bc%7e%3atoken",
        "s3cr3t%2F%2B%22%3C%26%3E%27%20%C3%BC~:token",
        "s3cr3t/+&quot;&lt;&amp;&gt;&#39; ü~:token",
        "s3cr3t/+&quot;&lt;&amp;&gt;&#x27; ü~:token",
        "s3cr3t/+&quot;&lt;&amp;&gt;&apos; ü~:token",
        "s3cr3t/+\"&lt;&amp;&gt;' ü~:token",
        // Python's `quote`; `json` of Go; System.Text.Json; html/template of Go; PHP's
        // `htmlentities`; OWASP's encoder.
        r#"s3cr3t/%2B%22%3C%26%3E%27%20%C3%BC~%3Atoken"#,
        r#"s3cr3t/+\"\u003c\u0026\u003e' ü~:token"#,
        r#"s3cr3t/\u002B\u0022\u003C\u0026\u003E\u0027 \u00FC~:token"#,
        "s3cr3t/&#43;&#34;&lt;&amp;&gt;&#39; ü~:token",
        "s3cr3t&sol;&plus;&quot;&lt;&amp;&gt;&apos; ü~&colon;token",
        "s3cr3t&#x2F;+&#34;&lt;&amp;&gt;&#x27; &#xfc;~:token",
        // Bytes of Python, and a word of a shell.
        r#"s3cr3t/+"<&>\' \xc3\xbc~:token"#,
        r#"s3cr3t/+\"\<\&\>\'\ ü~:token"#,
        // An address in HTML, HTML in JSON, and an address that is part of another.
        "s3cr3t%2F%2B%22%3C%26%3E&#39;%20%C3%BC~%3Atoken",
        r#"s3cr3t\/+&quot;\u0026lt;\u0026amp;\u0026gt;' ü~:token"#,
        "s3cr3t%252F%252B%2522%253C%2526%253E%2527%2520%25C3%25BC~%253Atoken",
        &hex::encode(TOKEN),
        &hex::encode_upper(TOKEN),
    ] {
        assert_eq!(scrubber.clean(&format!("<{written}>")), "<[secret TOKEN]>", "{written}");
    }
}

#[test]
fn base64_is_hidden_at_every_alignment_in_both_alphabets() {
    use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE, BASE64_URL_SAFE_NO_PAD, Engine};
    let value = "kd?>~93~~/x1+w";
    let scrubber = scrubber(&[("TOKEN", value)]);
    for before in ["", "a", "ab", "abc", "user:"] {
        for after in ["", "x", "xy", "xyz"] {
            let text = format!("{before}{value}{after}");
            for engine in [&BASE64_STANDARD, &BASE64_STANDARD_NO_PAD, &BASE64_URL_SAFE, &BASE64_URL_SAFE_NO_PAD] {
                let clean = scrubber.clean(&engine.encode(&text)).into_owned();
                let rest = clean.split_once("[secret TOKEN]").unwrap_or_else(|| panic!("{text}: {clean}"));
                // The rest decides none of the value's bytes: at each side at most the one
                // character it shares.
                let most = |other: &str| (other.len() * 8).div_ceil(6) + 1;
                assert!(rest.0.len() <= most(before), "{text}: {clean}");
                assert!(rest.1.trim_end_matches('=').len() <= most(after), "{text}: {clean}");
            }
        }
    }
    assert_eq!(scrubber.clean(&BASE64_STANDARD.encode(value)), "[secret TOKEN]");
}

#[test]
fn base64_in_lines_or_inside_another_encoding_is_hidden() {
    use base64::prelude::{BASE64_STANDARD, Engine};
    let value = "?>~ü+/".repeat(40);
    let scrubber = scrubber(&[("TOKEN", value.as_str())]);
    let encoded = BASE64_STANDARD.encode(&value);
    for end in ["\r\n", "\n", "\n    "] {
        let lines: Vec<_> = encoded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
        let lines = lines.join(end);
        assert_eq!(scrubber.clean(&format!("<{lines}>")), "<[secret TOKEN]>", "{end:?}");
        assert_eq!(scrubber.clean(&json!(lines).to_string()), "\"[secret TOKEN]\"", "{end:?}");
    }
    let in_address = encoded.replace('+', "%2B").replace('/', "%2f").replace('=', "%3D");
    assert!(in_address.contains('%'));
    assert_eq!(scrubber.clean(&format!("?a={in_address}&b=1")), "?a=[secret TOKEN]&b=1");
}

#[test]
fn what_stands_around_an_encoded_value_stays_as_it_is() {
    let scrubber = scrubber(&[("TOKEN", TOKEN)]);
    let far = "x".repeat(5000);
    let in_json = r#"s3cr3t/+\"\u003c\u0026\u003e' ü~:token"#;
    let in_addresses = "s3cr3t%252F%252B%2522%253C%2526%253E%2527%2520%25C3%25BC~%253Atoken";
    for around in ["%2F\\n&amp;\n", "\\u00fc ü %zz &nope; \\", &far, &format!("\\n{far}%2F{far}&lt;")] {
        for written in [in_json, in_addresses] {
            let text = format!("{around}<{written}>{around}");
            assert_eq!(scrubber.clean(&text), format!("{around}<[secret TOKEN]>{around}"));
        }
        assert!(matches!(scrubber.clean(around), Cow::Borrowed(_)), "{around}");
    }
}

#[test]
fn a_value_in_small_letters_as_in_the_name_of_a_host_is_hidden() {
    assert_eq!(scrubber(&[("K", "AbC-1234")]).clean("https://abc-1234.example/"), "https://[secret K].example/");
}

#[test]
fn of_overlapping_secrets_nothing_stays() {
    let scrubber = scrubber(&[("ONE", "abcdefgh"), ("TWO", "fghijklmnop")]);
    assert_eq!(scrubber.clean("-abcdefghijklmnop-"), "-[secret TWO]-");
    assert_eq!(scrubber.clean("abcdefghabcdefgh fghijklmnop"), "[secret ONE][secret ONE] [secret TWO]");
}

#[test]
fn a_secret_inside_another_does_not_uncover_the_other() {
    let scrubber = scrubber(&[("PART", "the-middle"), ("WHOLE", "begin-the-middle-end")]);
    assert_eq!(scrubber.clean("begin-the-middle-end, the-middle"), "[secret WHOLE], [secret PART]");
}

#[test]
fn a_value_too_short_to_be_told_from_other_text_hides_nothing() {
    let scrubber = scrubber(&[("K", "k"), ("SEVEN", "1234567"), ("EIGHT", "ü2345678")]);
    assert_eq!(scrubber.clean("key 1234567, ü2345678"), "key 1234567, [secret EIGHT]");
}

#[test]
fn bytes_that_are_no_text_are_cleaned_too() {
    assert_eq!(&*scrubber(&[("K", "the-value")]).clean_bytes(b"\xffthe-value\xfe"), b"\xff[secret K]\xfe");
}

#[test]
fn json_is_cleaned_in_texts_names_and_numbers() {
    let mut value = json!({"a": ["x 12345678 y", {"12345678": null}], "n": 12_345_678, "ok": 12345, "b": true});
    scrubber(&[("PIN", "12345678")]).clean_json(&mut value);
    assert_eq!(value, json!({"a": ["x [secret PIN] y", {"[secret PIN]": null}], "n": "[secret PIN]", "ok": 12345, "b": true}));
}

#[test]
fn json_in_a_text_stays_whole_when_a_number_in_it_shows_a_value() {
    let scrubber = scrubber(&[("PIN", "87654321"), ("TAN", "11223344")]);
    for (written, clean) in [
        (r#"{"arg":87654321,"n":5}"#, r#"{"arg":"[secret PIN]","n":5}"#),
        (r#" [1, -876543210.5e3, "87654321\"", 8]"#, r#" [1, "-[secret PIN]0.5e3", "[secret PIN]\"", 8]"#),
        (r#"[8765432111223344,87654321]"#, r#"["[secret PIN][secret TAN]","[secret PIN]"]"#),
        (r#"{"87654321":[{"a":"x","b":11223344}]}"#, r#"{"[secret PIN]":[{"a":"x","b":"[secret TAN]"}]}"#),
    ] {
        assert_eq!(scrubber.clean(written), clean);
        assert!(serde_json::from_str::<Value>(clean).is_ok(), "{clean}");
    }
    for text in ["87654321", "[87654321", "the chat {\"id\":87654321}", "{id: 87654321}"] {
        assert_eq!(scrubber.clean(text), text.replace("87654321", "[secret PIN]"));
    }
}

#[test]
fn new_values_are_known_to_every_clone_and_old_ones_forgotten() {
    let first = scrubber(&[("K", "old-value")]);
    let second = first.clone();
    first.set(&[("K".into(), "new-value".into())]);
    assert_eq!(second.clean("old-value new-value"), "old-value [secret K]");
}
