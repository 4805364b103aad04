//! Rules on the values of fields: what `#[state(validate(..))]` calls.

use std::fmt;

/// A rule that a value breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The field's name; `None` for the invariant of the whole state.
    pub field: Option<&'static str>,
    /// The rule as it is written in the attribute: `range(min = 0.0, max = 1.0)`.
    pub rule: &'static str,
    /// The value, as dumped JSON; `None` where the value must not leave the process.
    pub value: Option<String>,
    /// What the rule has to say.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field {
            Some(field) => write!(f, "field `{field}` breaks `{}`", self.rule)?,
            None => write!(f, "the state breaks its invariant `{}`", self.rule)?,
        }
        if let Some(value) = &self.value {
            write!(f, " with {value}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Collects what is broken.
#[derive(Clone, Debug, Default)]
pub struct Report {
    violations: Vec<(usize, Violation)>,
}

impl Report {
    #[doc(hidden)]
    pub fn __push(&mut self, index: usize, violation: Violation) {
        self.violations.push((index, violation));
    }

    /// Whether every rule holds.
    pub fn is_empty(&self) -> bool {
        self.violations.is_empty()
    }

    /// The broken rules with the index of the field, in the order in which they were checked.
    pub fn into_violations(self) -> Vec<(usize, Violation)> {
        self.violations
    }
}
