use std::fmt;

/// The failure of a case: a promise that a model breaks.
///
/// `Debug` shows the same as `Display`, because test harnesses print errors with `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Broken {
    case: String,
    promise: String,
    expected: String,
    found: String,
}

impl Broken {
    pub(super) fn new(
        promise: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        let case = String::new();
        Self { case, promise: promise.into(), expected: expected.into(), found: found.into() }
    }

    /// Sets the case.
    pub(super) fn of(self, area: &str, name: &str) -> Self {
        Self { case: format!("{area}::{name}"), ..self }
    }

    /// Returns the name of the failed case.
    pub fn case(&self) -> &str {
        &self.case
    }

    /// Returns the broken promise.
    pub fn promise(&self) -> &str {
        &self.promise
    }

    /// Returns the expected result.
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// Returns the actual result.
    pub fn found(&self) -> &str {
        &self.found
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, promise, expected, found } = self;
        write!(f, "case `{case}` failed: {promise}\n  expected: {expected}\n  found:    {found}")
    }
}

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Broken {}
