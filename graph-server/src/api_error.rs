//! The errors that clients see.

use std::time::Duration;

use axum::http::StatusCode;
use serde_json::Value;
use superstep::checkpoint::CheckpointError;
use superstep::store::StoreError;
use superstep::{Error, ErrorKind};

use crate::log;

/// An error as a client sees it: a status and a `detail`.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) detail: Value,
    /// The seconds after which the client may try again.
    pub(crate) retry_after: Option<u64>,
    /// `true` if the request names a checkpoint that does not exist.
    pub(crate) no_checkpoint: bool,
}

/// The result of a request.
pub(crate) type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    pub(crate) fn new(status: StatusCode, detail: impl Into<Value>) -> Self {
        Self { status, detail: detail.into(), retry_after: None, no_checkpoint: false }
    }

    /// Too many requests or streams. The client may try again after the wait.
    pub(crate) fn too_many(problem: &str, wait: Duration) -> Self {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        let detail = format!("{problem}: try again after {seconds} s");
        Self { retry_after: Some(seconds), ..Self::new(StatusCode::TOO_MANY_REQUESTS, detail) }
    }

    pub(crate) fn not_found(detail: impl Into<Value>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// The request names a checkpoint that does not exist.
    pub(crate) fn no_checkpoint(detail: impl Into<Value>) -> Self {
        Self { no_checkpoint: true, ..Self::not_found(detail) }
    }

    pub(crate) fn conflict(detail: impl Into<Value>) -> Self {
        Self::new(StatusCode::CONFLICT, detail)
    }

    pub(crate) fn unprocessable(detail: impl Into<Value>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    /// A failure of the server, for example of its store. Clients try again.
    pub(crate) fn internal(detail: impl Into<Value>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    }

    /// The `detail` as text.
    pub(crate) fn text(&self) -> String {
        match &self.detail {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// Returns an error with its causes.
pub(crate) fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::NoThread { .. } | ErrorKind::NoCheckpoint { .. } => StatusCode::NOT_FOUND,
            ErrorKind::Conflict(..)
            | ErrorKind::PendingTasks { .. }
            | ErrorKind::InterruptNotOpen { .. }
            | ErrorKind::IdempotencyKeyReused { .. }
            | ErrorKind::RunAbandoned { .. }
            | ErrorKind::NotHead { .. } => StatusCode::CONFLICT,
            ErrorKind::Checkpoint(cause) => checkpoint_status(cause),
            ErrorKind::Cache(..)
            | ErrorKind::Panicked { .. }
            | ErrorKind::Runtime(..)
            | ErrorKind::Migration { .. }
            | ErrorKind::NodeRemoved { .. }
            | ErrorKind::NoCache { .. }
            | ErrorKind::ContextMismatch { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            // All others blame the request.
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        if let (ErrorKind::Checkpoint(cause), true) = (error.kind(), status.is_server_error()) {
            log::store_failed("CheckpointError", cause);
        }
        let no_checkpoint = matches!(error.kind(), ErrorKind::NoCheckpoint { .. });
        Self { no_checkpoint, ..Self::new(status, with_causes(&error)) }
    }
}

fn checkpoint_status(error: &CheckpointError) -> StatusCode {
    match error {
        CheckpointError::NoThread { .. } => StatusCode::NOT_FOUND,
        CheckpointError::Conflict(_) | CheckpointError::Exists { .. } => StatusCode::CONFLICT,
        CheckpointError::Invalid { .. } | CheckpointError::NotStorable { .. } => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl From<CheckpointError> for ApiError {
    fn from(error: CheckpointError) -> Self {
        let status = checkpoint_status(&error);
        if status.is_server_error() {
            log::store_failed("CheckpointError", &error);
        }
        Self::new(status, with_causes(&error))
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        let status = match &error {
            StoreError::NoIndex { .. }
            | StoreError::NotStorable { .. }
            | StoreError::OtherModel { .. }
            | StoreError::Invalid { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status.is_server_error() {
            log::store_failed("StoreError", &error);
        }
        Self::new(status, with_causes(&error))
    }
}
