use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use crate::api_error::{ApiError, ApiResult};
use crate::protocol::{AssistantId, RunId, ThreadId};

/// The id of a thread in a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadPart(pub(crate) ThreadId);

/// The ids of a thread and a run in a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunPart(pub(crate) ThreadId, pub(crate) RunId);

/// The id of an assistant in a path: a UUID or the name of a graph.
#[derive(Clone, Debug)]
pub(crate) struct AssistantPart(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for ThreadPart {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        // A path may have more parts, such as the id of a checkpoint.
        let parts = Path::<Vec<(String, String)>>::from_request_parts(parts, state).await.map_err(refused)?;
        let id = parts.0.first().map(|(_, id)| thread_id(id));
        id.unwrap_or_else(|| Err(ApiError::not_found("Not Found"))).map(Self)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RunPart {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let Path((thread, run)) =
            Path::<(String, String)>::from_request_parts(parts, state).await.map_err(refused)?;
        let thread = thread_id(&thread)?;
        let run = RunId::parse(&run).ok_or_else(|| invalid("run"))?;
        Ok(Self(thread, run))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for AssistantPart {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let parts = Path::<Vec<(String, String)>>::from_request_parts(parts, state).await.map_err(refused)?;
        parts.0.into_iter().next().map(|(_, id)| Self(id)).ok_or_else(|| ApiError::not_found("Not Found"))
    }
}

impl AssistantPart {
    /// Returns the id. The name of a graph stands for its default assistant.
    ///
    /// # Errors
    /// The string is neither a UUID nor the name of a graph.
    pub(crate) fn id(&self, graphs: &crate::graphs::Graphs) -> ApiResult<AssistantId> {
        if graphs.find(&self.0).is_some() {
            return Ok(AssistantId::of_graph(&self.0));
        }
        AssistantId::parse(&self.0).ok_or_else(|| {
            ApiError::unprocessable(format!(
                "Invalid assistant ID: `{}` is neither a UUID nor the name of a graph. The graphs are {}",
                self.0,
                graphs.names()
            ))
        })
    }
}

fn thread_id(text: &str) -> ApiResult<ThreadId> {
    ThreadId::parse(text).ok_or_else(|| invalid("thread"))
}

fn invalid(what: &str) -> ApiError {
    ApiError::unprocessable(format!("Invalid {what} ID: must be a UUID"))
}

fn refused(rejection: PathRejection) -> ApiError {
    ApiError::new(rejection.status(), rejection.body_text())
}
