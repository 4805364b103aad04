use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// The prepared answers of a detached context, by the name of the question's type.
#[derive(Debug, Default)]
pub(crate) struct Script(Mutex<HashMap<&'static str, VecDeque<Value>>>);

impl Script {
    /// Adds the answer to the next question of this name that has none.
    pub(super) fn add(&self, name: &'static str, answer: Value) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name).or_default().push_back(answer);
    }

    /// Takes the answer to the next question of this name.
    pub(super) fn take(&self, name: &str) -> Option<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_mut(name)?.pop_front()
    }
}
