use std::fmt;

/// What the function of a custom rule or of an invariant returns: `Result<(), impl Display>`.
#[diagnostic::on_unimplemented(
    message = "a rule cannot return `{Self}`",
    label = "returns `{Self}`",
    note = "return `Result<(), impl Display>`: `Ok(())` if the value is valid, or `Err(\"what is wrong with it\")`"
)]
pub trait RuleResult {
    /// Converts the error to its text.
    ///
    /// # Errors
    /// The rule is broken.
    fn into_result(self) -> Result<(), String>;
}

impl<E: fmt::Display> RuleResult for Result<(), E> {
    fn into_result(self) -> Result<(), String> {
        self.map_err(|error| crate::contain::display_text(&error))
    }
}
