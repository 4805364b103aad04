use crate::state::FieldSpec;

/// A write that a reducer cannot fold.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ReduceError {
    message: String,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl ReduceError {
    /// Creates an error from a message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// Creates an error from a message and its cause.
    pub fn with_source(
        message: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self { message: message.into(), source: Some(source.into()) }
    }

    /// Returns the error to show for a field: this one, or one without details if the field is excluded.
    pub(crate) fn on_field(self, field: Option<&FieldSpec>) -> Self {
        match field {
            Some(spec) if spec.excluded => {
                Self::new("the write does not fit (details are withheld because the field is excluded)")
            }
            _ => self,
        }
    }

    pub(super) fn from_panic(panic: &str) -> Self {
        Self::new(format!("the reducer panicked: {panic}"))
    }
}
