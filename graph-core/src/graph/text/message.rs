/// A message that is put together while compiling.
pub(super) struct Message {
    bytes: [u8; Self::SIZE],
    length: usize,
}

impl Message {
    const SIZE: usize = 1024;

    pub(super) const fn new() -> Self {
        Self { bytes: [0; Self::SIZE], length: 0 }
    }

    /// Appends text. What is too long is cut off.
    pub(super) const fn text(mut self, text: &str) -> Self {
        let mut rest = text.as_bytes();
        while let [first, others @ ..] = rest {
            let (_, free) = self.bytes.split_at_mut(self.length);
            let [next, ..] = free else { break };
            *next = *first;
            self.length += 1;
            rest = others;
        }
        self
    }

    /// Appends names, such as `draft | END`.
    pub(super) const fn names(mut self, mut names: &[&str], mut is_first: bool) -> Self {
        while let [name, others @ ..] = names {
            if !is_first {
                self = self.text(" | ");
            }
            is_first = false;
            self = self.text(name);
            names = others;
        }
        self
    }

    pub(super) const fn as_str(&self) -> &str {
        let (bytes, _) = self.bytes.split_at(self.length);
        match std::str::from_utf8(bytes) {
            Ok(text) => text,
            // A name that is cut off in the middle of a letter.
            Err(_) => "the message is too long",
        }
    }
}
