use std::cell::Cell;
use std::fmt::Write as _;

use super::super::path::push_key;

/// Results of writing a value beside the JSON: the reason and path of a refusal, or the bytes.
#[derive(Default)]
pub(in super::super) struct Refused {
    why: Cell<Option<&'static str>>,
    /// The path to the refused value, from the inside to the outside.
    path: Cell<Vec<Step>>,
    bytes: Cell<Option<Vec<u8>>>,
}

enum Step {
    Key(String),
    Index(usize),
}

impl Refused {
    pub(super) fn refuse(&self, why: &'static str) {
        self.why.set(Some(why));
    }

    /// Adds the key that contains the refused value.
    pub(super) fn push_path_key(&self, key: impl Into<String>) {
        self.push_step(Step::Key(key.into()));
    }

    /// Adds the index that contains the refused value.
    pub(super) fn push_path_index(&self, index: usize) {
        self.push_step(Step::Index(index));
    }

    fn push_step(&self, step: Step) {
        let mut path = self.path.take();
        path.push(step);
        self.path.set(path);
    }

    /// Keeps the bytes of a value that consists only of bytes.
    pub(super) fn keep_bytes(&self, bytes: &[u8]) {
        self.bytes.set(Some(bytes.to_vec()));
    }

    /// Returns the bytes of a value that consists only of bytes.
    pub(in super::super) fn into_bytes(self) -> Option<Vec<u8>> {
        self.bytes.into_inner()
    }

    /// Returns our reason for the refusal, if it was ours, and the path. The path is empty for the whole value.
    pub(in super::super) fn into_parts(self) -> (Option<&'static str>, String) {
        let mut path = String::new();
        for step in self.path.into_inner().into_iter().rev() {
            match step {
                Step::Key(key) => push_key(&mut path, &key),
                Step::Index(index) => {
                    // Writing into a `String` cannot fail.
                    let _ = write!(path, "[{index}]");
                }
            }
        }
        (self.why.into_inner(), path)
    }
}
