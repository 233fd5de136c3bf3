//! The language of a sound, as servers that turn speech into words name it.

/// The languages that OpenAI says its transcription knows. Groq and whisper.cpp know them, too; a
/// server may fail at another one.
const KNOWN: &str = "af ar az be bg bs ca cs cy da de el en es et fa fi fr gl he hi hr hu hy id is it ja kk kn ko lt lv \
    mi mk mr ms ne nl no pl pt ro ru sk sl sr sv sw ta th tl tr uk ur vi zh";

/// The name of the language of a tag such as `pt-BR`. A language without one is found out by the
/// server.
pub(super) fn named(tag: &str) -> Option<&'static str> {
    let written = tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    // Browsers name the ways in which Norwegian is written, and Filipino.
    let language = match &*written {
        "nb" | "nn" => "no",
        "fil" => "tl",
        other => other,
    };
    KNOWN.split(' ').find(|known| *known == language)
}

#[cfg(test)]
mod tests;
