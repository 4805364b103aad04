use std::cell::Cell;
use std::fmt::Write as _;

use super::super::path::push_key;

/// What writing a value finds out besides the JSON.
#[derive(Default)]
pub(in super::super) struct Refused {
    why: Cell<Option<&'static str>>,
    /// The way to what was refused, from the inside to the outside.
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

    /// What was refused lies under this key.
    pub(super) fn came_through_key(&self, key: impl Into<String>) {
        self.came_through(Step::Key(key.into()));
    }

    /// What was refused is this item.
    pub(super) fn came_through_index(&self, index: usize) {
        self.came_through(Step::Index(index));
    }

    fn came_through(&self, step: Step) {
        let mut path = self.path.take();
        path.push(step);
        self.path.set(path);
    }

    /// The value is nothing but these bytes.
    pub(super) fn keep_bytes(&self, bytes: &[u8]) {
        self.bytes.set(Some(bytes.to_vec()));
    }

    /// The bytes, of a value that is nothing else.
    pub(in super::super) fn into_bytes(self) -> Option<Vec<u8>> {
        self.bytes.into_inner()
    }

    /// Why the value was refused, if it was by us, and the way to the place; empty for the whole value.
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
