//! Messages of errors that the user's code makes: bounded, and without a panic.

use std::error::Error;
use std::fmt::{self, Display, Write};

use super::contained;

/// The maximum length of an error's text with its causes, in bytes.
const MAX_BYTES: usize = 16 * 1024;
/// The maximum number of causes.
const MAX_CAUSES: usize = 64;
/// The end of a message that was longer.
const CUT_OFF: &str = " … (cut off)";

/// Returns an error and its causes in one line.
///
/// The text is bounded, ends at a cause that is repeated, and says so if a `Display` fails or panics.
pub fn error_text(error: &dyn Error) -> String {
    let mut text = Bounded::new();
    write_chain(error, ": ", &mut text);
    text.finish()
}

/// Returns the text of a value, or of an error without its causes; bounded and without a panic.
pub fn display_text(value: &(impl Display + ?Sized)) -> String {
    let mut text = Bounded::new();
    text.write_message(value);
    text.finish()
}

/// Writes an error and its causes, each cause after `separator`. The text is that of [`error_text`].
///
/// # Errors
/// The formatter fails.
pub fn write_error(error: &dyn Error, separator: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = Bounded::new();
    write_chain(error, separator, &mut text);
    f.write_str(&text.finish())
}

/// Returns the text, cut off if it is longer than the text of an error may be.
pub fn bounded(text: &str) -> String {
    let mut bounded = Bounded::new();
    let _ = bounded.write_str(text);
    bounded.finish()
}

/// Returns an error and its causes, of which there may be endlessly many.
///
/// It ends after a number of causes that no sensible error has, and where `source` panics.
pub fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error: &&'e (dyn Error + 'static)| {
        contained(|| error.source()).ok().flatten()
    })
    .take(MAX_CAUSES + 1)
}

fn write_chain(error: &dyn Error, separator: &str, text: &mut Bounded) {
    // The start and the end of each message in the text, and the address of its error.
    let mut seen: Vec<(usize, usize, *const ())> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        if seen.len() > MAX_CAUSES {
            text.end_with(" … (more causes)");
            return;
        }
        let before = text.text.len();
        if !seen.is_empty() {
            let _ = text.write_str(separator);
        }
        let start = text.text.len();
        text.write_message(error);
        if text.is_full {
            return;
        }
        let at = std::ptr::from_ref(error).cast();
        let message = text.text.get(start..).unwrap_or_default();
        // Errors without data share their address, so the message is compared as well.
        let repeated = |&(from, to, address): &(usize, usize, *const ())| {
            address == at && text.text.get(from..to) == Some(message)
        };
        if seen.iter().any(repeated) {
            text.text.truncate(before);
            text.end_with(" … (the causes repeat)");
            return;
        }
        seen.push((start, text.text.len(), at));
        next = contained(|| error.source()).ok().flatten();
    }
}

/// A string of at most [`MAX_BYTES`] and a short remark.
struct Bounded {
    text: String,
    is_full: bool,
    /// The remark at the end.
    end: &'static str,
}

impl Bounded {
    fn new() -> Self {
        Self { text: String::new(), is_full: false, end: "" }
    }

    fn end_with(&mut self, remark: &'static str) {
        self.end = remark;
    }

    fn write_message(&mut self, error: &(impl Display + ?Sized)) {
        let written = contained(|| write!(self, "{error}"));
        if self.is_full {
            return;
        }
        match written {
            Ok(Ok(())) => {}
            Ok(Err(_)) => {
                let _ = self.write_str("(the error cannot be shown: its `Display` failed)");
            }
            Err(panic) => {
                let _ = write!(self, "(the error cannot be shown: its `Display` panicked: {panic})");
            }
        }
    }

    fn finish(mut self) -> String {
        self.text.push_str(self.end);
        self.text
    }
}

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let rest = MAX_BYTES.saturating_sub(self.text.len());
        if part.len() <= rest && !self.is_full {
            self.text.push_str(part);
            return Ok(());
        }
        if !self.is_full {
            let fits = part.floor_char_boundary(rest);
            self.text.push_str(part.get(..fits).unwrap_or_default());
            (self.is_full, self.end) = (true, CUT_OFF);
        }
        // Ends the formatting of a long text early.
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    enum Odd {
        Fails,
        Panics,
        Long,
        Cycle,
        SourcePanics,
        Chain(Option<Box<Odd>>),
    }

    impl Display for Odd {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                Self::Fails => f.write_str("partly ").and(Err(fmt::Error)),
                Self::Panics => panic!("bang"),
                Self::Long => (0..1 << 24).try_for_each(|n| write!(f, "é{n}")),
                Self::Cycle => f.write_str("cycle"),
                Self::SourcePanics => f.write_str("source"),
                Self::Chain(_) => f.write_str("link"),
            }
        }
    }

    impl Error for Odd {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            // A constant, because `&self` does not live long enough.
            const CYCLE: &Odd = &Odd::Cycle;
            match self {
                Self::Cycle => Some(CYCLE),
                Self::SourcePanics => panic!("bang"),
                Self::Chain(inner) => inner.as_deref().map(|inner| inner as _),
                _ => None,
            }
        }
    }

    fn check(error: &Odd, expected: &str) {
        assert_eq!(error_text(error), expected);
    }

    #[test]
    fn errors_that_cannot_be_shown_say_so() {
        check(&Odd::Fails, "partly (the error cannot be shown: its `Display` failed)");
        check(&Odd::Panics, "(the error cannot be shown: its `Display` panicked: bang)");
        check(&Odd::SourcePanics, "source");
        let chain = Odd::Chain(Some(Box::new(Odd::Panics)));
        check(&chain, "link: (the error cannot be shown: its `Display` panicked: bang)");
    }

    #[test]
    fn texts_are_bounded() {
        let text = error_text(&Odd::Long);
        assert!(text.len() < MAX_BYTES + 32 && text.ends_with(CUT_OFF), "{}", text.len());
        assert_eq!(bounded("short"), "short");
        assert_eq!(bounded(&"x".repeat(MAX_BYTES)).len(), MAX_BYTES);
    }

    #[test]
    fn causes_are_bounded() {
        check(&Odd::Chain(None), "link");
        let text = error_text(&Odd::Cycle);
        assert!(text.ends_with("cycle … (the causes repeat)") && text.len() < 64, "{text}");
        let long = (0..1000).fold(Odd::Fails, |inner, _| Odd::Chain(Some(Box::new(inner))));
        let text = error_text(&long);
        assert_eq!(text.matches("link").count(), MAX_CAUSES + 1, "{text}");
        assert!(text.ends_with("(more causes)"), "{text}");
    }
}
