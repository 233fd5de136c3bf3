//! Values and calls as Python writes them, which is how some models write their tool calls. Only literals: nothing is run, and a name that
//! is none of `True`, `False` and `None` is no value.

use serde_json::{Map, Number, Value};

/// How deep lists and dictionaries may lie in each other.
const DEEPEST: usize = 64;

/// The value, when the whole text is one.
pub(super) fn literal(text: &str) -> Option<Value> {
    let mut reader = Reader { rest: text.trim() };
    let value = reader.value(0)?;
    reader.rest.trim().is_empty().then_some(value)
}

/// Calls `name(key=value, …)` separated by commas, when the whole text is some.
pub(super) fn calls(text: &str) -> Option<Vec<(String, Map<String, Value>)>> {
    let mut reader = Reader { rest: text.trim() };
    let mut calls = Vec::new();
    loop {
        let name = reader.name()?;
        reader.mark('(')?;
        let mut arguments = Map::new();
        while reader.mark(')').is_none() {
            if !arguments.is_empty() {
                reader.mark(',')?;
            }
            let key = reader.name()?;
            reader.mark('=')?;
            arguments.insert(key, reader.value(0)?);
        }
        calls.push((name, arguments));
        if reader.rest.trim().is_empty() {
            return Some(calls);
        }
        reader.mark(',')?;
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// Takes a mark, white space before it included; `None` when something else stands there.
    fn mark(&mut self, mark: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(mark)?;
        Some(())
    }

    /// Takes a name with dots, such as `search.call`.
    fn name(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start();
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        let end = self.rest.find(|c| !word(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_').then(|| name.to_owned())
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.rest = self.rest.trim_start();
        if depth > DEEPEST {
            return None;
        }
        match self.rest.chars().next()? {
            '{' => self.dictionary(depth),
            '[' => self.list('[', ']', depth),
            '(' => self.list('(', ')', depth),
            '"' | '\'' => self.string().map(Value::String),
            c if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number(),
            _ => {
                let name = self.name()?;
                match name.as_str() {
                    "True" | "true" => Some(true.into()),
                    "False" | "false" => Some(false.into()),
                    "None" | "null" => Some(Value::Null),
                    _ => None,
                }
            }
        }
    }

    fn dictionary(&mut self, depth: usize) -> Option<Value> {
        self.mark('{')?;
        let mut fields = Map::new();
        while self.mark('}').is_none() {
            if !fields.is_empty() {
                self.mark(',')?;
                if self.mark('}').is_some() {
                    break;
                }
            }
            self.rest = self.rest.trim_start();
            let key = self.string()?;
            self.mark(':')?;
            fields.insert(key, self.value(depth + 1)?);
        }
        Some(Value::Object(fields))
    }

    fn list(&mut self, open: char, close: char, depth: usize) -> Option<Value> {
        self.mark(open)?;
        let mut items = Vec::new();
        while self.mark(close).is_none() {
            if !items.is_empty() {
                self.mark(',')?;
                if self.mark(close).is_some() {
                    break;
                }
            }
            items.push(self.value(depth + 1)?);
        }
        Some(Value::Array(items))
    }

    fn number(&mut self) -> Option<Value> {
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E')))
            .unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        let whole = number.parse::<i64>().ok().map(Number::from);
        whole.or_else(|| Number::from_f64(number.parse().ok()?)).map(Value::Number)
    }

    fn string(&mut self) -> Option<String> {
        let quote = self.rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let three = quote.to_string().repeat(3);
        let end = if self.rest.starts_with(&three) { three.as_str() } else { &three[..1] };
        let mut text = String::new();
        self.rest = &self.rest[end.len()..];
        loop {
            if let Some(rest) = self.rest.strip_prefix(end) {
                self.rest = rest;
                return Some(text);
            }
            let c = self.rest.chars().next()?;
            self.rest = &self.rest[c.len_utf8()..];
            if c == '\\' { self.escaped(&mut text)? } else { text.push(c) }
        }
    }

    fn escaped(&mut self, text: &mut String) -> Option<()> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        match c {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            '\\' | '"' | '\'' | '/' => text.push(c),
            '\n' => {}
            'x' => text.push(self.code(2)?),
            'u' => text.push(self.code(4)?),
            'U' => text.push(self.code(8)?),
            // Python leaves what it does not know as it is.
            other => text.extend(['\\', other]),
        }
        Some(())
    }

    /// The character with the number that so many hexadecimal digits say.
    fn code(&mut self, digits: usize) -> Option<char> {
        let code = u32::from_str_radix(self.rest.get(..digits)?, 16).ok()?;
        self.rest = &self.rest[digits..];
        Some(char::from_u32(code).unwrap_or('\u{fffd}'))
    }
}

#[cfg(test)]
mod tests;
