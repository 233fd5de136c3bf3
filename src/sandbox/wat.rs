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

/// How deep parentheses may go. The parser has this bound for all but components in components,
/// which it reads to any depth, on the stack.
const MAX_DEPTH: usize = 100;

/// Builds the component of a draft in WAT.
pub(super) fn build(draft: &Draft) -> Result<BuiltComponent, CheckError> {
    if let Some(place) = too_deep(&draft.source) {
        let message = format!("the parentheses go deeper than {MAX_DEPTH} levels here; write it flatter");
        return Err(CheckError::new(RefusalCode::SyntaxError, message).at(Some(place)));
    }
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

/// The place at which a text goes deeper than it may, by the parentheses outside its strings and
/// comments.
fn too_deep(source: &str) -> Option<SourcePlace> {
    let (mut depth, mut comments, mut quoted, mut line, mut start) = (0_usize, 0_usize, false, 1_u32, 0);
    let bytes = source.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let two = (*byte, bytes.get(at + 1).copied());
        match two {
            (b'\n', _) => (line, start) = (line + 1, at + 1),
            (b'\\', _) if quoted => at += 1,
            (b'"', _) if comments == 0 => quoted = !quoted,
            _ if quoted => {}
            (b'(', Some(b';')) => (comments, at) = (comments + 1, at + 1),
            (b';', Some(b')')) if comments > 0 => (comments, at) = (comments - 1, at + 1),
            _ if comments > 0 => {}
            // To the end of the line.
            (b';', Some(b';')) => at += source[at..].find('\n').unwrap_or(source.len() - at) - 1,
            (b'(', _) => depth += 1,
            (b')', _) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            let offset = u32::try_from(at - start + 1).unwrap_or(u32::MAX);
            return Some(SourcePlace { line, offset });
        }
        at += 1;
    }
    None
}

/// The parser's error: a sentence, then `--> <anon>:2:13`, then the line itself.
fn syntax_error(error: &str) -> CheckError {
    let (message, rest) = error.split_once('\n').unwrap_or((error, ""));
    let mut numbers = rest.split_once("<anon>:").map_or("", |(_, place)| place).split(|c: char| !c.is_ascii_digit());
    let mut next = || numbers.next()?.parse().ok();
    let place = next().zip(next()).map(|(line, offset)| SourcePlace { line, offset });
    CheckError::new(RefusalCode::SyntaxError, format!("{}; {SHAPE}", message.trim())).at(place)
}
