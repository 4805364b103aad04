use std::error::Error;
use std::fmt::{self, Display};

use crate::contain::bounded;

/// The reason why a value is not written or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// A reason of this crate. It quotes no value.
    Fixed(&'static str),
    /// The size of a value that is too large, and the limit.
    TooLarge(usize, usize),
    /// The message of a `Serialize` or `Deserialize` implementation. It may quote the value.
    Quoting(String),
}

impl Reason {
    /// A message that may quote the value. It is cut off if it is too long for an error.
    pub(super) fn quoting(text: String) -> Self {
        Self::Quoting(bounded(&text))
    }

    fn withheld(self) -> Self {
        match self {
            Self::Fixed(_) | Self::TooLarge(..) => self,
            Self::Quoting(_) => Self::Fixed(WITHHELD),
        }
    }
}

impl Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(text) => f.write_str(text),
            Self::TooLarge(size, limit) => write!(
                f,
                "it has {size} bytes as it is stored, but at most {limit} can be stored: keep large data elsewhere, and \
                 store a reference to it"
            ),
            Self::Quoting(text) => f.write_str(text),
        }
    }
}

/// The reason shown for a value of an excluded field.
const WITHHELD: &str = "the value does not fit (details are withheld because the field is excluded)";

/// A value that cannot be stored, because a store could not give it back as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unstorable {
    path: String,
    reason: Reason,
}

impl Unstorable {
    /// Creates an error. `path` is empty for the value as a whole.
    pub(super) fn new(path: String, reason: Reason) -> Self {
        Self { path, reason }
    }

    /// Creates an error about a value that is larger than a store can hold.
    pub(super) fn too_large(size: usize, limit: usize) -> Self {
        Self::new(String::new(), Reason::TooLarge(size, limit))
    }

    /// Creates an error about the value as a whole. The text may quote the value.
    pub fn because(reason: impl Into<String>) -> Self {
        Self::new(String::new(), Reason::quoting(reason.into()))
    }

    /// Returns `true` if this crate refused the value for this reason.
    pub(super) fn is_because_of(&self, reason: &'static str) -> bool {
        self.reason == Reason::Fixed(reason)
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the error without its path and without any text that may quote the value. Use it for excluded fields.
    pub fn withheld(self) -> Self {
        Self { path: String::new(), reason: self.reason.withheld() }
    }
}

impl Display for Unstorable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot be stored")?;
        if !self.path.is_empty() {
            write!(f, ", because of the value at `${}`", self.path)?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl Error for Unstorable {}

/// A stored value that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(Reason);

impl Unreadable {
    /// Creates an error whose text quotes no value.
    pub const fn new(reason: &'static str) -> Self {
        Self(Reason::Fixed(reason))
    }

    /// Creates an error whose text may quote the value.
    pub fn quoting(reason: impl Into<String>) -> Self {
        Self(Reason::quoting(reason.into()))
    }

    /// Returns the error without any text that may quote the value. Use it for excluded fields.
    pub fn withheld(self) -> Self {
        Self(self.0.withheld())
    }
}

impl Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Unreadable {}

impl From<serde_json::Error> for Unreadable {
    fn from(error: serde_json::Error) -> Self {
        Self::quoting(error.to_string())
    }
}
