use std::borrow::Cow;
use std::time::Duration;

use thiserror::Error;

/// An error of a request to a model.
///
/// The variant, not the message, decides whether a retry can help: see [`is_transient`](Self::is_transient).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The provider could not be reached, sent nothing until the timeout, or the connection broke.
    #[error("the connection to model `{model}` failed")]
    Unreachable {
        /// The name of the model.
        model: String,
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The provider refused the request.
    #[error("model `{model}` refused the request with status {status}: {message}")]
    Refused {
        /// The name of the model.
        model: String,
        /// The HTTP status.
        status: u16,
        /// The message of the provider.
        message: String,
        /// The wait before the next request that the provider asks for, such as HTTP's `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// The account's quota is used up. Waiting does not help.
    #[error("the quota for model `{model}` is used up: {message}")]
    QuotaExceeded {
        /// The name of the model.
        model: String,
        /// The message of the provider.
        message: String,
    },
    /// The provider returned an invalid reply.
    #[error("model `{model}` returned an invalid reply")]
    NoReply {
        /// The name of the model.
        model: String,
        /// The reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The reply of the provider is larger than the configuration of the model allows.
    #[error("the reply of model `{model}` is too large: {reason}")]
    ReplyTooLarge {
        /// The name of the model.
        model: String,
        /// The limit, and the name of its setting.
        reason: String,
    },
    /// The request is invalid and was not sent.
    #[error("invalid request for model `{model}`: {reason}")]
    InvalidRequest {
        /// The name of the model.
        model: String,
        /// The reason.
        reason: String,
    },
    /// The configuration of the model is invalid.
    #[error("model `{model}` cannot be set up: {reason}")]
    InvalidConfig {
        /// The name of the model.
        model: String,
        /// The reason.
        reason: String,
    },
}

impl ModelError {
    /// Returns the kind of the error for logs and metrics. For a refusal this is its status.
    pub fn kind(&self) -> Cow<'static, str> {
        match self {
            Self::Unreachable { .. } => "unreachable".into(),
            Self::Refused { status, .. } => status.to_string().into(),
            Self::QuotaExceeded { .. } => "quota_exceeded".into(),
            Self::NoReply { .. } => "no_reply".into(),
            Self::ReplyTooLarge { .. } => "reply_too_large".into(),
            Self::InvalidRequest { .. } => "request".into(),
            Self::InvalidConfig { .. } => "setup".into(),
        }
    }

    /// Returns the wait before the next request that the provider asks for.
    ///
    /// Pass it to [`Retry::wait_from`](superstep::policy::Retry::wait_from), so that a retried node waits as long:
    ///
    /// ```
    /// use std::time::Duration;
    /// use superstep::policy::Retry;
    /// use superstep_agent::ModelError;
    ///
    /// let retry = Retry::attempts(5)
    ///     .max_backoff(Duration::from_secs(600))
    ///     .when(ModelError::is_transient)
    ///     .wait_from(ModelError::retry_after);
    /// # let _ = retry;
    /// ```
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Returns `true` if the same request may succeed later.
    ///
    /// This is the case if the provider was not reached, was too busy, or had an internal error.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 409 | 425 | 429 | 500..=599),
            Self::QuotaExceeded { .. }
            | Self::NoReply { .. }
            | Self::ReplyTooLarge { .. }
            | Self::InvalidRequest { .. }
            | Self::InvalidConfig { .. } => false,
        }
    }
}
