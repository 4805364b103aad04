use std::fmt;

use super::outline::Outline;

/// The problems of a request, each with its place. A request is refused with all of them at once.
#[derive(Default)]
pub(crate) struct Problems {
    found: Vec<String>,
    /// The fields that the reader asks for. Only a reader that runs without a value has it.
    outline: Option<Box<Outline>>,
}

/// The number of problems that are listed. More are only counted, so that a response stays short.
const LISTED: usize = 20;

/// A place in a request, such as `command.goto[1].node`. It is only written out for a problem.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'p> {
    /// The body itself.
    Body,
    /// A field of an object.
    Field(&'p Place<'p>, &'p str),
    /// An item of an array.
    Item(&'p Place<'p>, usize),
}

impl Problems {
    /// For a reader that runs without a value, to find the fields that it asks for.
    pub(crate) fn outlining() -> Self {
        Self { outline: Some(Box::default()), ..Self::default() }
    }

    /// Returns the outline of a reader that runs without a value.
    pub(crate) fn outline(&mut self) -> Option<&mut Outline> {
        self.outline.as_deref_mut()
    }

    pub(crate) fn into_outline(self) -> Outline {
        self.outline.map(|outline| *outline).unwrap_or_default()
    }

    /// Adds a problem.
    pub(crate) fn add(&mut self, at: &Place<'_>, problem: impl fmt::Display) {
        self.found.push(format!("`{at}`: {problem}"));
    }

    /// Returns the value if there are no problems.
    pub(crate) fn check<T>(self, value: Option<T>) -> Result<T, Self> {
        match value {
            Some(value) if self.found.is_empty() => Ok(value),
            _ => Err(self),
        }
    }
}

impl fmt::Debug for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.found).finish()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.found.iter().take(LISTED).enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{problem}")?;
        }
        match self.found.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body => f.write_str("body"),
            Self::Field(Place::Body, name) => f.write_str(name),
            Self::Field(outer, name) => write!(f, "{outer}.{name}"),
            Self::Item(outer, index) => write!(f, "{outer}[{index}]"),
        }
    }
}
