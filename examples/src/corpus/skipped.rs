use std::fmt;

/// A file that was left out, and why.
#[derive(Debug, Clone)]
pub struct Skipped {
    /// Its path below the folder.
    pub file: String,
    /// Why.
    pub reason: Reason,
}

/// Why a file was left out.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Reason {
    /// Not a text by its name.
    Kind,
    /// Neither UTF-8 nor ASCII.
    Binary,
    /// Larger than one text may be.
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// Nothing in it but white space.
    Empty,
    /// The system refused.
    Unreadable(String),
}

impl Skipped {
    /// ": skipped `a.png` (..), `b.md` (..) and 3 more", or nothing.
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
            Self::Unreadable(why) => f.write_str(why),
        }
    }
}
