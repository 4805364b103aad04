/// A write that a reducer cannot fold.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ReduceError {
    message: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ReduceError {
    /// An error in words.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// An error with its cause.
    pub fn with_source(
        message: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { message: message.into(), source: Some(source.into()) }
    }

    /// What may be said of an error on the field at `field`: this one, or no more than that there is one when the field's
    /// value must be in no error text.
    pub(crate) fn on_field<S: crate::state::GraphState>(self, field: usize) -> Self {
        match S::field(field) {
            Some(spec) if spec.excluded => {
                Self::new("the write does not fit (the field is excluded, so no more is said)")
            }
            _ => self,
        }
    }

    pub(super) fn from_panic(panic: &(dyn std::any::Any + Send)) -> Self {
        Self::new(format!("the reducer panicked: {}", crate::panic_text(panic)))
    }
}
