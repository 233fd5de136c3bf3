//! Texts read back: without the escapes of JSON and of programs, of addresses or of HTML, or
//! without the ends of their lines. Encoders of one family differ in the characters that they
//! escape; read back, their texts are the same.

use std::ops::Range;

/// Stands where a part of the source was left out. No UTF-8 has this byte, so nothing that is
/// searched for reaches across it.
const LEFT_OUT: u8 = 0xff;
/// The longest name or number between the `&` and the `;` of HTML, both of them counted.
const LONGEST_ENTITY: usize = 12;

/// A family of encoders.
struct Family {
    /// The bytes that one of its escapes can begin with.
    begins: &'static [u8],
    /// Writes what the escape at the beginning of a text stands for, and gives the escape's length;
    /// `None` if there is no escape.
    read: fn(&[u8], &mut Vec<u8>) -> Option<usize>,
}

static FAMILIES: [Family; 4] = [
    Family { begins: b"\\", read: backslash },
    Family { begins: b"%", read: percent },
    Family { begins: b"&", read: entity },
    // Base64 in mail stands in lines of 76 characters.
    Family { begins: b"\r\n", read: end_of_line },
];

/// A text that was read back as one family writes it.
pub(super) struct ReadBack {
    /// The bytes near each escape; the rest is as in the source and left out.
    pub(super) text: Vec<u8>,
    /// In order; they cover the source.
    parts: Vec<Part>,
    /// The length of the source.
    source: usize,
}

struct Part {
    /// The place of its first byte in the text.
    at: usize,
    /// The same in the source.
    source: usize,
    /// True if each of its bytes stands for all of its source; else they are the same bytes.
    whole: bool,
}

/// Each reading of a text that differs from it, with so many bytes beside each escape.
pub(super) fn all(source: &[u8], near: usize) -> impl Iterator<Item = ReadBack> {
    FAMILIES.iter().filter_map(move |family| ReadBack::new(family, source, near))
}

impl ReadBack {
    fn new(family: &Family, source: &[u8], near: usize) -> Option<Self> {
        let mut back = Self { text: Vec::new(), parts: Vec::new(), source: source.len() };
        let (mut copied, mut at, mut plain) = (0, 0, Vec::new());
        while let Some(next) = source[at..].iter().position(|byte| family.begins.contains(byte)) {
            at += next;
            plain.clear();
            let Some(length) = (family.read)(&source[at..], &mut plain) else {
                at += 1;
                continue;
            };
            back.copy(source, copied..at, near);
            back.push(at, true, &plain);
            at += length;
            copied = at;
        }
        if back.parts.is_empty() {
            return None;
        }
        back.copy(source, copied..source.len(), near);
        Some(back)
    }

    /// Copies what stands between two escapes, or its two ends if it is long.
    fn copy(&mut self, source: &[u8], range: Range<usize>, near: usize) {
        if range.is_empty() {
            return;
        }
        if range.len() <= near.saturating_mul(2) {
            return self.push(range.start, false, &source[range]);
        }
        let gap = range.start + near..range.end - near;
        self.push(range.start, false, &source[range.start..gap.start]);
        self.push(gap.start, true, &[LEFT_OUT]);
        self.push(gap.end, false, &source[gap.end..range.end]);
    }

    fn push(&mut self, source: usize, whole: bool, bytes: &[u8]) {
        self.parts.push(Part { at: self.text.len(), source, whole });
        self.text.extend_from_slice(bytes);
    }

    /// The bytes of the source that a range of the text stands for. The range is not empty.
    pub(super) fn source_of(&self, range: &Range<usize>) -> Range<usize> {
        self.source_of_byte(range.start).start..self.source_of_byte(range.end - 1).end
    }

    fn source_of_byte(&self, at: usize) -> Range<usize> {
        // Of parts that begin at the same place all but the last are empty.
        let next = self.parts.partition_point(|part| part.at <= at);
        let part = &self.parts[next - 1];
        if part.whole {
            return part.source..self.parts.get(next).map_or(self.source, |next| next.source);
        }
        let source = part.source + (at - part.at);
        source..source + 1
    }
}

/// JSON, and the literals of programming languages and of shells.
fn backslash(rest: &[u8], plain: &mut Vec<u8>) -> Option<usize> {
    let kind = *rest.get(1)?;
    let by_number = match kind {
        b'x' => hex(rest, 2..4).and_then(|byte| u8::try_from(byte).ok()).map(|byte| {
            plain.push(byte);
            4
        }),
        b'u' | b'U' => unicode(rest).map(|(character, length)| {
            push_character(character, plain);
            length
        }),
        _ => None,
    };
    if by_number.is_some() {
        return by_number;
    }
    if !kind.is_ascii() {
        return Some(1);
    }
    plain.push(match kind {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 0x08,
        b'f' => 0x0c,
        b'v' => 0x0b,
        b'a' => 0x07,
        b'0' => 0,
        itself => itself,
    });
    Some(2)
}

/// `\u00fc`, in two parts if 16 bits do not hold the character, `\u{fc}` or `\U000000fc`; and its
/// length.
fn unicode(rest: &[u8]) -> Option<(char, usize)> {
    if rest.get(1) == Some(&b'U') {
        return Some((char::from_u32(hex(rest, 2..10)?)?, 10));
    }
    if rest.get(2) == Some(&b'{') {
        let end = rest.iter().take(10).position(|byte| *byte == b'}')?;
        return Some((char::from_u32(hex(rest, 3..end)?)?, end + 1));
    }
    let first = hex(rest, 2..6)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 6));
    }
    let second = hex(rest, 8..12).filter(|_| rest.get(6..8) == Some(b"\\u".as_slice()))?;
    let units = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
    Some((char::decode_utf16(units).next()?.ok()?, 12))
}

fn percent(rest: &[u8], plain: &mut Vec<u8>) -> Option<usize> {
    plain.push(u8::try_from(hex(rest, 1..3)?).ok()?);
    Some(3)
}

fn entity(rest: &[u8], plain: &mut Vec<u8>) -> Option<usize> {
    let end = rest.iter().take(LONGEST_ENTITY).position(|byte| *byte == b';')?;
    let character = match &rest[1..end] {
        [b'#', b'x' | b'X', digits @ ..] => char::from_u32(number(digits, 16)?)?,
        [b'#', digits @ ..] => char::from_u32(number(digits, 10)?)?,
        name => NAMED.iter().find(|(known, _)| known.as_bytes() == name)?.1,
    };
    push_character(character, plain);
    Some(end + 1)
}

/// The names that HTML has for characters of ASCII.
const NAMED: &[(&str, char)] = &[
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("Tab", '\t'),
    ("NewLine", '\n'),
    ("excl", '!'),
    ("num", '#'),
    ("dollar", '$'),
    ("percnt", '%'),
    ("lpar", '('),
    ("rpar", ')'),
    ("ast", '*'),
    ("plus", '+'),
    ("comma", ','),
    ("period", '.'),
    ("sol", '/'),
    ("colon", ':'),
    ("semi", ';'),
    ("equals", '='),
    ("quest", '?'),
    ("commat", '@'),
    ("lsqb", '['),
    ("lbrack", '['),
    ("bsol", '\\'),
    ("rsqb", ']'),
    ("rbrack", ']'),
    ("Hat", '^'),
    ("lowbar", '_'),
    ("grave", '`'),
    ("lcub", '{'),
    ("lbrace", '{'),
    ("verbar", '|'),
    ("vert", '|'),
    ("rcub", '}'),
    ("rbrace", '}'),
];

/// The end of a line, with the spaces that the next one begins with.
fn end_of_line(rest: &[u8], _: &mut Vec<u8>) -> Option<usize> {
    Some(rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count())
}

fn hex(rest: &[u8], digits: Range<usize>) -> Option<u32> {
    number(rest.get(digits)?, 16)
}

fn number(digits: &[u8], radix: u32) -> Option<u32> {
    let add = |number: u32, digit: &u8| number.checked_mul(radix)?.checked_add(char::from(*digit).to_digit(radix)?);
    if digits.is_empty() { None } else { digits.iter().try_fold(0, add) }
}

fn push_character(character: char, plain: &mut Vec<u8>) {
    plain.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

#[cfg(test)]
mod tests;
