//! Settings of Vapi that are whole, half, or of no use.

use std::collections::HashMap;

use super::*;

fn of(settings: &[(&str, &str)]) -> Result<VapiConfig, String> {
    let settings: HashMap<_, _> = settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    let own = ["law.lan".parse().unwrap()];
    read(|name| settings.get(name).cloned(), &own).map_err(|error| error.to_string())
}

#[test]
fn vapi_is_whole_or_says_what_is_missing() {
    assert_eq!(of(&[]), Ok(VapiConfig::default()));
    assert_eq!(of(&[("VOICE_VAPI_KEY", "VAPI")]).unwrap().missing, Some("VOICE_PUBLIC_URL"));
    let public = ("VOICE_PUBLIC_URL", "https://law.example.com");
    let half = of(&[public]).unwrap();
    // The name opens no more than its doors, also if no call can be made.
    assert_eq!((half.missing, half.public.unwrap().name), (Some("VOICE_VAPI_KEY"), "law.example.com".to_owned()));
    let whole = of(&[public, ("VOICE_VAPI_KEY", "VAPI")]).unwrap().whole.unwrap();
    assert_eq!((whole.url.as_str(), whole.signature), (USUAL, SignaturePlan::default()));
    let plan = r#"{"signature": "x-hub-signature", "prefix": "sha1=", "algorithm": "sha1", "encoding": "base64", "plain": true}"#;
    let whole = of(&[public, ("VOICE_VAPI_KEY", "VAPI"), ("VOICE_VAPI_SIGNATURE", plan)]).unwrap().whole.unwrap();
    let SignaturePlan { signature, timestamp, algorithm, encoding, plain, .. } = whole.signature;
    assert_eq!(
        (&*signature, &*timestamp, algorithm.as_str(), encoding.as_str(), plain),
        ("x-hub-signature", "x-timestamp", "sha1", "base64", true)
    );
}

#[test]
fn a_name_of_the_house_or_of_nobody_is_refused() {
    for (url, why) in [
        ("http://localhost:8000", "Vapi cannot reach this machine"),
        ("http://127.0.0.1", "Vapi cannot reach this machine"),
        ("http://[::1]:9", "Vapi cannot reach this machine"),
        ("http://localhost.", "Vapi cannot reach this machine"),
        ("http://[::ffff:127.0.0.1]", "Vapi cannot reach this machine"),
        ("https://law.lan", "a name that is for Vapi alone"),
        ("https://law.lan.", "a name that is for Vapi alone"),
        ("https://law.example.com/vapi", "without a path"),
        ("law.example.com", "a whole http or https address"),
    ] {
        let said = of(&[("VOICE_PUBLIC_URL", url)]).unwrap_err();
        assert!(said.starts_with("VOICE_PUBLIC_URL is ") && said.contains(why), "{said}");
    }
    // The page is served under the address at which the server listens, too.
    let at = |listen, url| of(&[("LEVEL3_LISTEN", listen), ("VOICE_PUBLIC_URL", url)]);
    for (listen, url) in [
        ("192.168.1.5:8000", "http://192.168.1.5"),
        ("[::ffff:192.168.1.5]:8000", "http://192.168.1.5:8000"),
        ("[fd00::1]:8000", "https://[fd00:0::1]"),
    ] {
        let said = at(listen, url).unwrap_err();
        assert!(said.contains("this is the address of LEVEL3_LISTEN"), "{said}");
    }
    for url in ["https://law.example.com", "http://192.168.1.6"] {
        assert!(at("192.168.1.5:8000", url).is_ok(), "{url}");
    }
    for plan in ["x-signature", "[]", r#"{"algorithm": "md5"}"#, r#"{"signature": "x y"}"#, r#"{"header": "x"}"#] {
        assert!(of(&[("VOICE_VAPI_SIGNATURE", plan)]).unwrap_err().starts_with("VOICE_VAPI_SIGNATURE is "), "{plan}");
    }
}
