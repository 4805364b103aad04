use std::error::Error;

use super::ReduceError;

/// The return type of a reducer function: `()` or `Result<(), E>`.
#[diagnostic::on_unimplemented(
    message = "a reducer function cannot return `{Self}`",
    label = "returns `{Self}`",
    note = "a reducer is a `fn(&mut T, U)` that changes the value in place and returns `()` or `Result<(), E>`"
)]
pub trait FoldOutcome {
    /// Converts the error into a [`ReduceError`].
    fn into_reduced(self) -> Result<(), ReduceError>;
}

#[diagnostic::do_not_recommend]
impl FoldOutcome for () {
    fn into_reduced(self) -> Result<(), ReduceError> {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<E: Into<Box<dyn Error + Send + Sync>>> FoldOutcome for Result<(), E> {
    fn into_reduced(self) -> Result<(), ReduceError> {
        self.map_err(|error| ReduceError::with_source("the reducer refused the write", error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_error_becomes_the_source() {
        assert!(().into_reduced().is_ok());
        assert!(Ok::<(), String>(()).into_reduced().is_ok());
        for error in [Err("full").into_reduced(), Err(std::io::Error::other("full")).into_reduced()] {
            let error = error.unwrap_err();
            assert_eq!(error.to_string(), "the reducer refused the write");
            assert_eq!(error.source().unwrap().to_string(), "full");
        }
    }
}
