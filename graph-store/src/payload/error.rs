use std::error::Error;
use std::fmt::{self, Display};

/// Why a value is not written or read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// A text of this crate, which quotes no value.
    Fixed(&'static str),
    /// A text of a `Serialize` or `Deserialize` impl, which may quote the value.
    Quoting(String),
}

impl Why {
    fn withheld(self) -> Self {
        match self {
            Self::Fixed(_) => self,
            Self::Quoting(_) => Self::Fixed(WITHHELD),
        }
    }
}

impl Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(text) => f.write_str(text),
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
    why: Why,
}

impl Unstorable {
    /// `path` is empty for the value as a whole.
    pub(super) fn new(path: String, why: Why) -> Self {
        Self { path, why }
    }

    /// An error about the value as a whole.
    pub fn because(reason: impl Into<String>) -> Self {
        Self::new(String::new(), Why::Quoting(reason.into()))
    }

    /// The same error without the path and without any text that may quote the value, for a value that must stay secret.
    pub fn withheld(self) -> Self {
        Self { path: String::new(), why: self.why.withheld() }
    }
}

impl Display for Unstorable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot be stored")?;
        if !self.path.is_empty() {
            write!(f, ", because of the value at `${}`", self.path)?;
        }
        write!(f, ": {}", self.why)
    }
}

impl Error for Unstorable {}

/// A stored value that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(Why);

impl Unreadable {
    /// An error whose text quotes no value.
    pub const fn new(reason: &'static str) -> Self {
        Self(Why::Fixed(reason))
    }

    /// An error whose text may quote the value.
    pub fn quoting(reason: impl Into<String>) -> Self {
        Self(Why::Quoting(reason.into()))
    }

    /// The same error without any text that may quote the value, for a value that must stay secret.
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
