use std::borrow::Cow;

use thiserror::Error;

/// What went wrong between us and a model.
///
/// Its kind says whether asking again can help; that is not read out of a text.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider could not be reached, was silent for too long, or the connection broke.
    #[error("model `{model}` could not be reached")]
    Unreachable {
        /// The model.
        model: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The provider has refused.
    #[error("model `{model}` has refused with status {status}: {message}")]
    Refused {
        /// The model.
        model: String,
        /// The HTTP status.
        status: u16,
        /// What the provider has said.
        message: String,
    },
    /// What was paid for is used up, which no waiting changes.
    #[error("the quota for model `{model}` is used up: {message}")]
    QuotaExceeded {
        /// The model.
        model: String,
        /// What the provider has said.
        message: String,
    },
    /// What came back is no reply.
    #[error("model `{model}` has sent what is no reply")]
    NoReply {
        /// The model.
        model: String,
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A request that cannot be made.
    #[error("model `{model}` cannot be asked this: {reason}")]
    Request {
        /// The model.
        model: String,
        /// Why not.
        reason: String,
    },
    /// A model that cannot be set up.
    #[error("model `{model}` cannot be set up: {reason}")]
    Setup {
        /// The model.
        model: String,
        /// Why not.
        reason: String,
    },
}

impl ModelError {
    /// Its kind, for logs and metrics; of a refusal its status.
    pub fn kind(&self) -> Cow<'static, str> {
        match self {
            Self::Unreachable { .. } => "unreachable".into(),
            Self::Refused { status, .. } => status.to_string().into(),
            Self::QuotaExceeded { .. } => "quota_exceeded".into(),
            Self::NoReply { .. } => "no_reply".into(),
            Self::Request { .. } => "request".into(),
            Self::Setup { .. } => "setup".into(),
        }
    }

    /// Whether the same request may succeed later: the provider was not reached, too busy, or broken itself.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 409 | 425 | 429 | 500..=599),
            Self::QuotaExceeded { .. } | Self::NoReply { .. } | Self::Request { .. } | Self::Setup { .. } => {
                false
            }
        }
    }
}
