//! Files and rows that lie between calls: one may be damaged, foreign, or ask for too much.

use super::*;
use crate::domain::RefusalCode;

/// Answers with its own parameters.
const ECHO: &str = include_str!("../../../capabilities/examples/echo/source.wat");

fn wat(source: &str) -> Draft {
    Draft { language: SourceLanguage::Wat, ..draft(source) }
}

#[tokio::test]
async fn a_component_in_wat_runs() {
    let draft = Draft { tests: vec![test(json!({"a": [1, "é"]}), json!({"a": [1, "é"]}))], ..wat(ECHO) };
    let capability = built(sandbox(), &draft).await;
    assert_eq!(capability.engine, "");
    assert_eq!(sandbox().call(&permit(), &capability, &json!({"b": 2}), nothing()).await.result, r#"{"b":2}"#);
}

#[tokio::test]
async fn faults_in_wat_are_named() {
    let error = refused(&wat("(component\n  (core module $m (func (result i33))))")).await;
    let json = error.refusal().to_json();
    assert_eq!((&json["error"], &json["line"], &json["offset"]), (&json!("syntax_error"), &json!(2), &json!(33)), "{json}");
    assert_eq!(refused(&wat(&"(component".repeat(10_000))).await.kind, RefusalCode::SyntaxError);
    assert_eq!(refused(&wat("(module)")).await.kind, RefusalCode::SyntaxError);
    let error = refused(&wat("(component)")).await;
    assert_eq!(error.kind, RefusalCode::MissingFunction);
    let error = refused(&wat(&ECHO.replace("(error string)", "(error u32)"))).await;
    assert!(matches!(error.kind, RefusalCode::MissingFunction | RefusalCode::ImportError), "{error}");
}

#[tokio::test]
async fn wat_that_goes_too_deep_is_refused_before_it_is_parsed() {
    let nested = |levels: usize, inside: &str| wat(&format!("{}{inside}{}", "(component\n".repeat(levels), ")".repeat(levels)));
    // Half of the stack that a thread of the server has, and no optimised code.
    let deepest = nested(100, ";; (((\n(; ((( (; ( ;) ;)");
    let built = std::thread::Builder::new().stack_size(1 << 20).spawn(move || super::super::wat::build(&deepest).map(drop));
    built.unwrap().join().unwrap().unwrap();
    for (draft, line) in [(nested(101, ""), 101), (nested(5000, ""), 101), (nested(100, "(import \"(\\\"(\" (func))"), 101)] {
        let error = refused(&draft).await;
        assert_eq!((error.kind, error.place.map(|place| place.line)), (RefusalCode::SyntaxError, Some(line)), "{error}");
        assert!(error.to_string().contains("deeper than 100 levels"), "{error}");
    }
}

#[tokio::test]
async fn wat_may_import_what_was_granted_and_nothing_else() {
    let clock = r#"(component (import "level3:capability/clock@0.1.0" (instance (export "now" (func (result u64)))))"#;
    let source = ECHO.replacen("(component", clock, 1);
    built(sandbox(), &wat(&source)).await;
    let error = refused(&Draft { grants: Grants::none(), ..wat(&source) }).await;
    assert_eq!(error.kind, RefusalCode::ImportError);
    assert!(error.message.contains("imports level3:capability/clock@0.1.0, which it was not granted"), "{error}");
    for import in [r#"(import "wasi:cli/environment@0.2.0" (instance))"#, r#"(import "level3-js-engine-v2" (core module))"#] {
        let error = refused(&wat(&ECHO.replacen("(component", &format!("(component {import}"), 1))).await;
        assert_eq!(error.kind, RefusalCode::ImportError, "{error}");
    }
}

fn wasm(bytes: &[u8]) -> Draft {
    use base64::Engine as _;
    let source = base64::engine::general_purpose::STANDARD.encode(bytes);
    Draft { language: SourceLanguage::Wasm, ..draft(&source) }
}

#[tokio::test]
async fn a_component_in_bytes_runs() {
    let bytes = ::wat::parse_str(ECHO).unwrap();
    let capability = built(sandbox(), &Draft { tests: vec![test(json!({"a": 1}), json!({"a": 1}))], ..wasm(&bytes) }).await;
    assert_eq!(capability.component, bytes);
    assert_eq!(sandbox().call(&permit(), &capability, &json!({"b": 2}), nothing()).await.result, r#"{"b":2}"#);
}

#[tokio::test]
async fn faults_in_bytes_are_named() {
    let bytes = |text: &str| ::wat::parse_str(text).unwrap();
    let not_base64 = Draft { language: SourceLanguage::Wasm, ..draft("(component)") };
    for (draft, kind, words) in [
        (not_base64, RefusalCode::SyntaxError, "the component's bytes in base64"),
        (wasm(b""), RefusalCode::SyntaxError, "no WebAssembly component"),
        (wasm(b"MZ\x90"), RefusalCode::SyntaxError, "no WebAssembly component"),
        (wasm(&bytes("(module)")), RefusalCode::SyntaxError, "a core module must be made into one"),
        (wasm(&bytes(ECHO)[..100]), RefusalCode::ImportError, "not a valid component"),
        (wasm(&bytes("(component)")), RefusalCode::MissingFunction, "does not export `run`"),
    ] {
        let error = refused(&draft).await;
        assert!(error.kind == kind && error.message.contains(words), "{words}: {error}");
    }
    let clock = r#"(component (import "level3:capability/clock@0.1.0" (instance (export "now" (func (result u64)))))"#;
    let importing = wasm(&bytes(&ECHO.replacen("(component", clock, 1)));
    built(sandbox(), &importing).await;
    let error = refused(&Draft { grants: Grants::none(), ..importing }).await;
    assert!(error.message.contains("imports level3:capability/clock@0.1.0, which it was not granted"), "{error}");
}

#[tokio::test]
async fn harm_in_wat_fails_only_its_call() {
    let bodies = [
        ("(loop (br 0)) unreachable", "did not finish in time"),
        ("unreachable", "broke down"),
        ("(drop (memory.grow (i32.const 5000))) unreachable", "more than 64 MiB"),
        ("(drop (i32.load (i32.const -4))) unreachable", "broke down"),
    ];
    for (body, words) in bodies {
        let source = ECHO.replacen(";; where the answer is", body, 1);
        assert_ne!(source, ECHO);
        let capability = built(sandbox(), &wat(&source)).await;
        let outcome = impatient().call(&permit(), &capability, &json!({}), nothing()).await;
        assert!(!outcome.ok && outcome.result.contains(words), "{body}: {}", outcome.result);
    }
}

#[tokio::test]
async fn wat_may_not_take_more_than_its_share() {
    let memories = "(component (core module $more (memory 1)) (core instance (instantiate $more))";
    let error = refused(&wat(&ECHO.replacen("(component", memories, 1))).await;
    assert_eq!(error.kind, RefusalCode::ImportError, "{error}");
    let huge = ECHO.replacen("(memory (export \"memory\") 1)", "(memory (export \"memory\") 2000)", 1);
    assert_eq!(refused(&wat(&huge)).await.kind, RefusalCode::ImportError);
}

#[tokio::test]
async fn the_imports_of_a_component_are_its_grants() {
    let imports = async |grants: Grants| -> Vec<String> {
        let draft = Draft { grants, ..draft("export default () => 1") };
        let checked = sandbox().check(&draft).await.unwrap();
        let engine = &sandbox().0.engine;
        let component = wasmtime::component::Component::new(engine, &checked.component).unwrap();
        component.component_type().imports(engine).map(|(name, _)| name.to_owned()).collect()
    };
    assert_eq!(imports(Grants::none()).await, ["level3-js-engine-v2"]);
    let log: Grants = serde_json::from_value(json!({"log": {}})).unwrap();
    assert_eq!(imports(log).await, ["level3-js-engine-v2", "level3:capability/log@0.1.0"]);
    assert_eq!(imports(Grants::harmless()).await.len(), 4);
}

#[tokio::test]
async fn a_component_that_imports_more_than_its_row_grants_is_refused() {
    let capability = built(sandbox(), &draft("export default () => 1")).await;
    let outcome =
        sandbox().call(&permit(), &CapabilityVersion { grants: Grants::none(), ..capability }, &json!({}), nothing()).await;
    assert!(!outcome.ok);
    assert!(outcome.result.contains("which it was not granted; it may import: level3-js-engine-v2"), "{}", outcome.result);
}

#[tokio::test]
async fn damaged_bytes_are_refused() {
    let mut capability = built(sandbox(), &draft("export default () => 'damaged'")).await;
    let fresh = open(SandboxLimits::default());
    *capability.component.last_mut().unwrap() ^= 1;
    let outcome = fresh.call(&permit(), &capability, &json!({}), nothing()).await;
    assert!(!outcome.ok);
    let error: Value = serde_json::from_str(&outcome.result).unwrap();
    assert_eq!(error["error"], "capability_unusable");
    assert!(error["message"].as_str().unwrap().contains("damaged"), "{error}");
}

/// A version as an older server would have left it in the database.
async fn of_an_older_engine(source: &str) -> CapabilityVersion {
    with_bytes(built(sandbox(), &draft(source)).await, b"level3-js-engine-v2", b"level3-js-engine-v0")
}

/// The version with a part of its component exchanged.
fn with_bytes(new: CapabilityVersion, old_bytes: &[u8], new_bytes: &[u8]) -> CapabilityVersion {
    let mut component = new.component.clone();
    let place = component.windows(old_bytes.len()).position(|bytes| bytes == old_bytes).unwrap();
    component[place..place + old_bytes.len()].copy_from_slice(new_bytes);
    let sha256 =
        hex::encode(sha2::Digest::finalize(sha2::Digest::chain_update(<sha2::Sha256 as sha2::Digest>::new(), &component)));
    CapabilityVersion { engine: "level3-js-engine-v0".into(), component, sha256, ..new }
}

#[tokio::test]
async fn a_component_for_another_engine_is_made_again_from_its_source() {
    let old = of_an_older_engine("export default (p) => p.n + 1").await;
    for n in 0..2 {
        let outcome = sandbox().call(&permit(), &old, &json!({ "n": n }), nothing()).await;
        assert_eq!(outcome.result, (n + 1).to_string());
    }
    sandbox().load(&old).await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_made_again_is_refused_with_the_way_out() {
    let old = of_an_older_engine("export default () => 'old'").await;
    let broken = with_bytes(old.clone(), b"'old'", b"'old;");
    let broken = CapabilityVersion { source: "export default () => 'old;".into(), ..broken };
    for (changed, words) in [
        (CapabilityVersion { source: "export default () => 'other'".into(), ..old.clone() }, "not the one its component"),
        (CapabilityVersion { source: "export default ()".into(), ..old.clone() }, "not the one its component"),
        (broken, "unexpected"),
        (CapabilityVersion { sha256: "0".repeat(64), ..old.clone() }, "damaged"),
        (CapabilityVersion { language: SourceLanguage::Wat, ..old.clone() }, "not JavaScript"),
    ] {
        let outcome = sandbox().call(&permit(), &changed, &json!({}), nothing()).await;
        assert!(!outcome.ok, "{}", outcome.result);
        for said in [words, "made for level3-js-engine-v0", "write it again with write_capability"] {
            assert!(outcome.result.contains(said), "{said}: {}", outcome.result);
        }
    }
}

#[tokio::test]
async fn compiled_components_are_kept_up_to_a_number() {
    let sandbox = open(SandboxLimits::default());
    let first = built(&sandbox, &draft("export default () => 0")).await;
    for n in 1..80 {
        built(&sandbox, &draft(&format!("export default () => {n}"))).await;
    }
    assert_eq!(sandbox.0.components.count(), 64);
    assert_eq!(sandbox.call(&permit(), &first, &json!({}), nothing()).await.result, "0");
}

/// The component of [`ASKS_FOR_HTTP`], as it was kept when eight bits stood for the powers.
const OF_EIGHT_BITS: &[u8] = include_bytes!("of_eight_bits.wasm");
const ASKS_FOR_HTTP: &str = "export default async (p) => {
  try { await fetch('https://a.example/'); } catch (error) { return `${p.n}: ${error.message}`; }
}
";

#[tokio::test]
async fn a_component_with_eight_bits_for_powers_runs_and_still_says_what_it_was_not_granted() {
    let grants: Grants = serde_json::from_value(json!({"clock": {}, "kv": {}})).unwrap();
    let new = built(sandbox(), &Draft { grants, ..draft(ASKS_FOR_HTTP) }).await;
    let component = OF_EIGHT_BITS.to_vec();
    let sha256 = crate::sandbox::component::sha256(&component);
    let old = CapabilityVersion { component, sha256, engine: "level3-js-engine-v2".into(), ..new.clone() };
    // A sandbox that has not seen the new one.
    let fresh = open(SandboxLimits::default());
    for version in [old, new] {
        let outcome = fresh.call(&permit(), &version, &json!({"n": 7}), nothing()).await;
        assert!(outcome.ok && outcome.result.starts_with("7: this capability was not granted `http`; to "), "{}", outcome.result);
    }
}
