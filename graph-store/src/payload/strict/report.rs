use std::cell::Cell;
use std::fmt::Write as _;

use super::super::path;

/// The results of writing a value, apart from the JSON.
#[derive(Default)]
pub(in super::super) struct Report {
    reason: Cell<Option<&'static str>>,
    /// The path to the refused value, innermost segment first.
    path: Cell<Vec<Segment>>,
    bytes: Cell<Option<Vec<u8>>>,
    /// `true` after an error inside an array or an object, which leaves the JSON incomplete.
    incomplete: Cell<bool>,
}

/// The number of characters of a path that an error text shows.
const MAX_PATH_CHARS: usize = 200;

enum Segment {
    Key(String),
    Index(usize),
}

impl Report {
    pub(super) fn refuse(&self, reason: &'static str) {
        self.reason.set(Some(reason));
    }

    /// Adds a key at the outer end of the path.
    pub(super) fn push_key(&self, key: impl Into<String>) {
        self.push(Segment::Key(key.into()));
    }

    /// Adds an index at the outer end of the path.
    pub(super) fn push_index(&self, index: usize) {
        self.push(Segment::Index(index));
    }

    fn push(&self, segment: Segment) {
        let mut path = self.path.take();
        path.push(segment);
        self.path.set(path);
    }

    /// Records an error inside an array or an object.
    pub(super) fn set_incomplete(&self) {
        self.incomplete.set(true);
    }

    /// Returns `true` if the JSON is incomplete, whatever the `Serialize` implementation has made of the error.
    pub(in super::super) fn is_incomplete(&self) -> bool {
        self.incomplete.get()
    }

    /// Stores the bytes of a value that serializes as bytes.
    pub(super) fn set_bytes(&self, bytes: &[u8]) {
        self.bytes.set(Some(bytes.to_vec()));
    }

    /// Returns the bytes of a value that serializes as bytes.
    pub(in super::super) fn into_bytes(self) -> Option<Vec<u8>> {
        self.bytes.into_inner()
    }

    /// Returns the reason, if this crate refused the value, and the path. The path is empty for the whole value.
    pub(in super::super) fn into_parts(self) -> (Option<&'static str>, String) {
        let mut text = String::new();
        for segment in self.path.into_inner().into_iter().rev() {
            match segment {
                Segment::Key(key) => path::push_key(&mut text, &key),
                Segment::Index(index) => {
                    // Writing into a `String` cannot fail.
                    let _ = write!(text, "[{index}]");
                }
            }
        }
        // The path to a value that is nested too deep names more than a hundred levels.
        if let Some((end, _)) = text.char_indices().nth(MAX_PATH_CHARS) {
            text.truncate(end);
            text.push('…');
        }
        (self.reason.into_inner(), text)
    }
}
