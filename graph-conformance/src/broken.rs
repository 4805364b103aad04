use std::fmt;

/// The failure of a case: a promise that a store breaks.
///
/// `Debug` shows the same as `Display`, because test harnesses print errors with `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct Broken {
    pub(crate) case: String,
    pub(crate) promise: String,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl Broken {
    pub(crate) fn new(
        promise: impl fmt::Display,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            case: String::new(),
            promise: promise.to_string(),
            expected: expected.into(),
            found: found.into(),
        }
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
