use std::fmt;

/// A file that was skipped.
#[derive(Debug, Clone)]
pub struct Skipped {
    /// The path inside the folder.
    pub file: String,
    /// The reason.
    pub reason: Reason,
}

/// The reason for skipping a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Reason {
    /// The name is not that of a text file.
    Kind,
    /// The content is not UTF-8 text.
    Binary,
    /// The file is too large.
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The file contains only white space.
    Empty,
    /// The operating system returned this error.
    Unreadable(String),
}

impl Skipped {
    /// Returns ": skipped `a.png` (..), `b.md` (..) and 3 more", or an empty string.
    pub(crate) fn summary(skipped: &[Self]) -> String {
        const NAMED: usize = 5;
        if skipped.is_empty() {
            return String::new();
        }
        let named: Vec<_> = skipped.iter().take(NAMED).map(ToString::to_string).collect();
        let rest = match skipped.len().saturating_sub(NAMED) {
            0 => String::new(),
            rest => format!(" and {rest} more"),
        };
        format!(": skipped {}{rest}", named.join(", "))
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ({})", self.file, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind => f.write_str("not a text or markdown file"),
            Self::Binary => f.write_str("not UTF-8 text"),
            Self::TooLarge { limit } => write!(f, "larger than {} MiB", limit >> 20),
            Self::Empty => f.write_str("empty"),
            Self::Unreadable(reason) => f.write_str(reason),
        }
    }
}
