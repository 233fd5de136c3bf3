//! A form with a file, as servers for transcriptions read it.

/// A form that is being written. The boundary is random, so that no file holds it.
pub(super) struct Form {
    boundary: String,
    body: Vec<u8>,
}

impl Form {
    pub(super) fn new(boundary: String) -> Self {
        Self { boundary, body: Vec::new() }
    }

    fn part(mut self, head: &str, content: &[u8]) -> Self {
        let opening = format!("--{}\r\nContent-Disposition: form-data; {head}\r\n\r\n", self.boundary);
        self.body.extend(opening.bytes());
        self.body.extend(content);
        self.body.extend(b"\r\n");
        self
    }

    pub(super) fn field(self, name: &str, value: &str) -> Self {
        self.part(&format!("name=\"{name}\""), value.as_bytes())
    }

    pub(super) fn wav(self, name: &str, bytes: &[u8]) -> Self {
        self.part(&format!("name=\"{name}\"; filename=\"speech.wav\"\r\nContent-Type: audio/wav"), bytes)
    }

    /// The content type, and the body.
    pub(super) fn done(mut self) -> (String, Vec<u8>) {
        let closing = format!("--{}--\r\n", self.boundary);
        self.body.extend(closing.bytes());
        (format!("multipart/form-data; boundary={}", self.boundary), self.body)
    }
}

#[cfg(test)]
mod tests;
