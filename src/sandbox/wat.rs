//! Drafts that bring their own code: the text of a whole component, or its bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::domain::Draft;

use super::CheckError;
use super::component::BuiltComponent;
use crate::domain::{RefusalCode, SourcePlace};

/// The first bytes of a component in binary form; a core module differs in the last four.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

const SHAPE: &str = "the text must be one component: `(component … (func (export \"run\") (param \"params-json\" string) (result (result string (error string))) (canon lift …)))`";

/// Builds the component of a draft in WAT.
pub(super) fn build(draft: &Draft) -> Result<BuiltComponent, CheckError> {
    let bytes = wat::parse_str(&draft.source).map_err(|error| syntax_error(&error.to_string()))?;
    if !bytes.starts_with(COMPONENT) {
        return Err(CheckError::new(RefusalCode::SyntaxError, format!("this is a core module; {SHAPE}")));
    }
    Ok(BuiltComponent { source: draft.source.clone(), bytes, engine: String::new() })
}

/// Takes the component of a draft that is its bytes in base64.
pub(super) fn decode(draft: &Draft) -> Result<BuiltComponent, CheckError> {
    let wrong = |message: &str| CheckError::new(RefusalCode::SyntaxError, message);
    let bytes = STANDARD
        .decode(draft.source.trim())
        .map_err(|error| wrong(&format!("the source of a wasm capability is the component's bytes in base64: {error}")))?;
    if !bytes.starts_with(COMPONENT) {
        return Err(wrong("these bytes are no WebAssembly component; a core module must be made into one first"));
    }
    Ok(BuiltComponent { source: draft.source.clone(), bytes, engine: String::new() })
}

/// The parser's error: a sentence, then `--> <anon>:2:13`, then the line itself.
fn syntax_error(error: &str) -> CheckError {
    let (message, rest) = error.split_once('\n').unwrap_or((error, ""));
    let mut numbers = rest.split_once("<anon>:").map_or("", |(_, place)| place).split(|c: char| !c.is_ascii_digit());
    let mut next = || numbers.next()?.parse().ok();
    let place = next().zip(next()).map(|(line, offset)| SourcePlace { line, offset });
    CheckError::new(RefusalCode::SyntaxError, format!("{}; {SHAPE}", message.trim())).at(place)
}
