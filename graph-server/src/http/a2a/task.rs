//! Tasks that exist.

use std::sync::Arc;

use axum::response::Response;
use serde_json::json;

use super::{Agent, refusal, result, shorten, stream};
use crate::api_error::ApiError;
use crate::events::Resume;
use crate::graphs::{HistoryQuery, RunFailure};
use crate::http::reply;
use crate::protocol::a2a::{A2aError, Message, Task, TaskId, TaskParams, TaskState};
use crate::protocol::{CancelAction, RpcError, RunStatus, ThreadStatus, read_body};
use crate::records::{MESSAGE_KEY, RunRecord, TaskRuns, ThreadRecord};
use crate::runs::{RunOutcome, cancel, hold};

/// A task, read from the records of the server.
pub(super) struct FoundTask {
    pub(super) id: TaskId,
    /// The runs of the task, newest first. There is at least one.
    runs: Vec<RunRecord>,
    pub(super) latest: RunRecord,
    pub(super) state: TaskState,
    thread: ThreadRecord,
    is_newest: bool,
}

/// Finds a task of an agent.
pub(super) async fn find(agent: &Agent, text: &str) -> Result<FoundTask, RpcError> {
    let unknown = || A2aError::TaskNotFound.because(format!("there is no task `{text}`"));
    let id = TaskId::parse(text).ok_or_else(unknown)?;
    let failed = |error| refusal(ApiError::from(error));
    let found = agent.app.records.task(id.thread, id.run).await.map_err(failed)?;
    found.and_then(|found| FoundTask::of(agent, id, found)).ok_or_else(unknown)
}

impl FoundTask {
    /// Returns the task. `None` if it is not one of the agent.
    pub(super) fn of(agent: &Agent, id: TaskId, found: TaskRuns) -> Option<Self> {
        let TaskRuns { thread, runs, is_newest } = found;
        let latest = runs.first().filter(|run| run.run.assistant_id == agent.assistant.assistant_id)?.clone();
        let waits = is_newest && thread.status == ThreadStatus::Interrupted;
        let state = match latest.run.status {
            RunStatus::Pending => TaskState::Submitted,
            RunStatus::Running => TaskState::Working,
            RunStatus::Success if waits => TaskState::InputRequired,
            // A question that another run has answered or replaced does not wait any longer.
            RunStatus::Success => TaskState::Completed,
            RunStatus::Error | RunStatus::Timeout => TaskState::Failed,
            RunStatus::Interrupted => TaskState::Canceled,
        };
        Some(Self { id, runs, latest, state, thread, is_newest })
    }

    pub(super) fn changed_at(&self) -> crate::protocol::Timestamp {
        self.latest.run.updated_at
    }

    /// Returns the messages of the client, oldest first.
    pub(super) fn messages(&self) -> Vec<Message> {
        let messages =
            self.runs.iter().rev().filter_map(|run| run.run.kwargs.get(MESSAGE_KEY)?.get("message").cloned());
        messages.filter_map(|message| read_body(message).ok()).collect()
    }

    /// Returns the task without its artifacts.
    pub(super) fn outline(&self, history: Option<u64>) -> Task {
        let mut task = Task {
            id: self.id,
            state: self.state,
            message: None,
            at: self.changed_at(),
            history: self.messages(),
            artifacts: Vec::new(),
        };
        shorten(&mut task.history, history);
        task
    }

    /// Returns the task with its results.
    pub(super) async fn whole(&self, agent: &Agent, history: Option<u64>) -> Result<Task, RpcError> {
        let mut task = self.outline(history);
        if let Some(outcome) = self.outcome(agent).await? {
            result::apply(&mut task, self.latest.run.run_id, &*agent.graph, &outcome);
        }
        Ok(task)
    }

    /// Returns the outcome of the latest run, as far as it is stored.
    async fn outcome(&self, agent: &Agent) -> Result<Option<RunOutcome>, RpcError> {
        if self.state == TaskState::Failed {
            let of_thread = self.thread.error.as_ref().filter(|_| self.is_newest);
            let error = self.latest.error.as_ref().or(of_thread);
            return Ok(error.map(|error| RunOutcome::Failed(RunFailure::new(&*error.error, &*error.message))));
        }
        if !matches!(self.state, TaskState::Completed | TaskState::InputRequired) {
            return Ok(None);
        }
        let mut query = HistoryQuery { limit: 1, ..HistoryQuery::default() };
        query.metadata.insert("run_id".to_owned(), json!(self.latest.run.run_id));
        let thread = self.id.thread.to_string();
        let view = agent.graph.history(&thread, query).await.map_err(refusal)?.into_iter().next();
        let Some(view) = view else { return Ok(None) };
        let interrupts: Vec<_> = view.interrupts().cloned().collect();
        let Some(values) = view.values else { return Ok(None) };
        Ok(Some(match self.state {
            TaskState::InputRequired => RunOutcome::Stopped { values, interrupts },
            _ => RunOutcome::Done(values),
        }))
    }
}

/// Responds with a task.
pub(super) async fn get(agent: &Agent, params: TaskParams) -> Result<Response, RpcError> {
    let task = find(agent, &params.id).await?.whole(agent, params.history).await?;
    Ok(reply::json(&agent.response(Ok(task.to_json(agent.version)))))
}

/// Cancels a task, and responds with it when it has ended.
pub(super) async fn cancel_task(agent: &Agent, params: TaskParams) -> Result<Response, RpcError> {
    let found = find(agent, &params.id).await?;
    let too_late = || A2aError::TaskNotCancelable.because(format!("the task `{}` has ended", params.id));
    let run = found.latest.run.run_id;
    let cancelled = match found.state {
        TaskState::Submitted | TaskState::Working => {
            let Some(live) = agent.app.runs.find(run) else { return Err(too_late()) };
            let (app, target) = (Arc::clone(&agent.app), Arc::clone(&live));
            // In a task of its own: a client that disconnects does not leave half a cancellation.
            let cancelling =
                tokio::spawn(async move { cancel(&app, &target, CancelAction::Interrupt, None).await });
            cancelling
                .await
                .map_err(|_| RpcError::internal("the cancellation has panicked"))?
                .map_err(refusal)?;
            matches!(*live.ended().await, RunOutcome::Cancelled)
        }
        TaskState::InputRequired => withdraw(agent, &found).await?,
        _ => false,
    };
    if !cancelled {
        return Err(too_late());
    }
    get(agent, params).await
}

/// Ends a task that waits for an answer. Its question stays open in the thread until the next message of the context.
async fn withdraw(agent: &Agent, task: &FoundTask) -> Result<bool, RpcError> {
    // No run begins meanwhile that answers the question.
    let Some(_hold) = hold(&agent.app, task.id.thread) else { return Ok(false) };
    let mut done = false;
    let changed = agent.app.records.change_run(task.id.thread, task.latest.run.run_id, |record, thread| {
        if record.run.status == RunStatus::Success && thread.status == ThreadStatus::Interrupted {
            record.run.status = RunStatus::Interrupted;
            done = true;
        }
    });
    changed.await.map_err(|error| refusal(ApiError::from(error)))?;
    Ok(done)
}

/// Streams the events of a task from now on. The first one is the task.
pub(super) async fn subscribe(agent: Agent, params: TaskParams) -> Result<Response, RpcError> {
    let found = find(&agent, &params.id).await?;
    let live = match found.state {
        TaskState::Submitted | TaskState::Working => agent.app.runs.find(found.latest.run.run_id),
        TaskState::InputRequired => None,
        _ => {
            let message = format!("the task `{}` has ended: get it instead", params.id);
            return Err(A2aError::UnsupportedOperation.because(message));
        }
    };
    let task = found.whole(&agent, params.history).await?;
    let live = live.map(|live| (live.log.read(Resume::Now), live));
    Ok(stream::respond(agent, task, live))
}
