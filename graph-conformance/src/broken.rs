use std::fmt;

/// A promise that a store has not kept.
///
/// Its `Debug` is its `Display`: it is read as the result of a test.
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

    /// The case that found it.
    pub fn case(&self) -> &str {
        &self.case
    }

    /// What was promised.
    pub fn promise(&self) -> &str {
        &self.promise
    }

    /// What a store that keeps it would have given.
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// What this one gave.
    pub fn found(&self) -> &str {
        &self.found
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, promise, expected, found } = self;
        write!(f, "a promise is broken (`{case}`): {promise}\n  expected: {expected}\n  found:    {found}")
    }
}

impl fmt::Debug for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Broken {}
