use serde_json::Value;

use crate::payload::{Payload, to_payload};

/// The JSON of an answer that can be stored.
#[derive(Clone)]
pub(crate) struct AnswerJson {
    value: Value,
    /// Its stored form, if a check has written it.
    stored: Option<Payload>,
}

impl AnswerJson {
    /// Wraps JSON that was checked when it was created.
    pub(crate) fn of(value: Value) -> Self {
        Self { value, stored: None }
    }

    /// Checks that a store can give JSON back, or returns the reason why it cannot.
    pub(super) fn checked(value: Value) -> Result<Self, String> {
        match to_payload(&value) {
            Ok(stored) => Ok(Self { value, stored: Some(stored) }),
            Err(reason) => Err(format!("it {reason}")),
        }
    }

    /// Returns the JSON.
    pub(crate) fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the JSON.
    pub(crate) fn into_value(self) -> Value {
        self.value
    }

    /// Returns the stored form.
    pub(crate) fn payload(&self) -> Payload {
        self.stored.clone().unwrap_or_else(|| Payload::json(self.value.to_string()))
    }
}

impl std::fmt::Debug for AnswerJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.value.fmt(f)
    }
}

/// Compares the values: the stored forms of equal maps may have their keys in different orders.
impl PartialEq for AnswerJson {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}
