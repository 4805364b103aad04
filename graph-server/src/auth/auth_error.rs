use axum::http::StatusCode;

use crate::api_error::ApiError;

/// The reason why a request is refused before it is looked at. The client gets the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AuthError {
    status: StatusCode,
    message: String,
}

impl AuthError {
    fn new(status: StatusCode, message: impl std::fmt::Display) -> Self {
        Self { status, message: message.to_string() }
    }

    /// The request does not say who sends it, or not believably (401).
    pub fn unauthenticated(message: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, message)
    }

    /// The caller is known and may not use the server (403).
    pub fn forbidden(message: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// The caller cannot be recognized now, for example because an identity provider does not respond (503). Clients try again.
    pub fn unavailable(message: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        Self::new(error.status, error.message)
    }
}
