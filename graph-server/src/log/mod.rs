//! The log of the server: events and spans of `tracing`, with the feature of this name. The guide on observability lists them.
//!
//! They have ids, names and counts. They never have values of states, inputs, keys, addresses of webhooks, or error messages,
//! in which any of these may occur.

use std::time::Duration;

use crate::protocol::{CronId, RunId, RunStatus, ThreadId};

/// Sends an event, as `log!(INFO, "run.started", "run started", field = value)`. Nothing is compiled without the feature.
macro_rules! log {
    ($level:ident, $name:literal, $text:literal $(, $($field:ident).+ = $value:expr)* $(,)?) => {{
        #[cfg(feature = "tracing")]
        tracing::event!(
            name: $name, target: "superstep_server", tracing::Level::$level, $($($field).+ = $value,)* $text,
        );
        #[cfg(not(feature = "tracing"))]
        { $(let _ = &$value;)* }
    }};
}

/// The ids of a run, for its events.
#[derive(Clone, Debug)]
pub(crate) struct RunIds {
    pub(crate) run: RunId,
    pub(crate) thread: Option<ThreadId>,
    pub(crate) graph: String,
}

impl RunIds {
    fn thread(&self) -> String {
        self.thread.map(|thread| thread.to_string()).unwrap_or_default()
    }
}

/// Sends an event of a run.
macro_rules! log_run {
    ($level:ident, $name:literal, $text:literal, $ids:expr $(, $($field:ident).+ = $value:expr)* $(,)?) => {
        log!(
            $level, $name, $text,
            graph.run.id = $ids.run.to_string(),
            gen_ai.conversation.id = $ids.thread(),
            gen_ai.agent.name = $ids.graph.as_str(),
            $($($field).+ = $value,)*
        )
    };
}

/// The server has started. Its listener may follow.
pub(crate) fn server_started(graphs: usize) {
    log!(INFO, "server.started", "server started", graphs = graphs);
}

/// The server accepts no more runs, and lets those that are active reach the end of their superstep.
pub(crate) fn server_stopping((pending, running): (usize, usize)) {
    log!(INFO, "server.stopping", "server stopping", pending_runs = pending, running_runs = running);
}

/// The server has stopped. Runs that are open were cut off within their superstep.
pub(crate) fn server_stopped((pending, running): (usize, usize)) {
    log!(INFO, "server.stopped", "server stopped", pending_runs = pending, running_runs = running);
}

/// The response of a request has begun. The route is empty if the path is not known.
pub(crate) fn request_finished(method: &str, route: &str, status: u16, time: Duration) {
    macro_rules! finished {
        ($level:ident) => {
            log!(
                $level,
                "request.finished",
                "request finished",
                http.request.method = method,
                http.route = route,
                http.response.status_code = status,
                duration_s = time.as_secs_f64(),
            )
        };
    }
    match status {
        500.. => finished!(ERROR),
        400.. => finished!(WARN),
        _ => finished!(INFO),
    }
}

/// A run was checked and stored, or begins in memory.
pub(crate) fn run_accepted(ids: &RunIds) {
    log_run!(INFO, "run.accepted", "run accepted", ids);
}

/// The turn of a run has come.
pub(crate) fn run_started(ids: &RunIds) {
    log_run!(INFO, "run.started", "run started", ids);
}

/// A run has ended, and its result is stored.
pub(crate) fn run_ended(ids: &RunIds, status: RunStatus, error_type: Option<&str>, time: Duration) {
    match error_type {
        Some(kind) => log_run!(
            ERROR, "run.ended", "run ended", ids,
            graph.run.status = status.name(), error.type = kind, duration_s = time.as_secs_f64(),
        ),
        None => log_run!(
            INFO,
            "run.ended",
            "run ended",
            ids,
            graph.run.status = status.name(),
            duration_s = time.as_secs_f64(),
        ),
    }
}

/// The server stops before the end of a run. The next server continues it.
pub(crate) fn run_handed_over(ids: &RunIds) {
    log_run!(INFO, "run.handed_over", "run handed over", ids);
}

/// A run that an earlier process has not finished is taken up.
pub(crate) fn run_taken_up(ids: &RunIds, attempt: u64) {
    log_run!(WARN, "run.taken_up", "run taken up after a restart", ids, graph.run.attempt = attempt);
}

/// The result of a run could not be stored.
pub(crate) fn run_not_stored(ids: &RunIds) {
    log_run!(ERROR, "run.not_stored", "the result of a run could not be stored", ids);
}

/// A cron has started a run.
pub(crate) fn cron_started(cron: CronId) {
    log!(INFO, "cron.started", "cron started a run", cron.id = cron.to_string());
}

/// The run of a cron was refused (4xx), or cannot be stored now (5xx) and is tried again.
pub(crate) fn cron_failed(cron: CronId, status: u16) {
    log!(
        ERROR,
        "cron.failed",
        "the run of a cron was not accepted",
        cron.id = cron.to_string(),
        status = status
    );
}

/// A webhook has accepted the result of a run.
#[cfg(feature = "webhooks")]
pub(crate) fn webhook_called(run: RunId, attempt: u32) {
    log!(INFO, "webhook.called", "webhook called", graph.run.id = run.to_string(), attempt = attempt,);
}

/// A webhook could not be called, or has not accepted the result of a run.
#[cfg(feature = "webhooks")]
pub(crate) fn webhook_failed(run: RunId, attempt: u32, retries: bool) {
    log!(
        WARN,
        "webhook.failed",
        "webhook failed",
        graph.run.id = run.to_string(),
        attempt = attempt,
        retries = retries,
    );
}

/// A store has failed.
pub(crate) fn store_failed(error_type: &'static str, error: &(dyn std::error::Error + 'static)) {
    // The messages of other causes may have values.
    let mut cause = error.source();
    let mut kind = "";
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            kind = io_kind(error);
        }
        cause = error.source();
    }
    log!(ERROR, "store.failed", "a store has failed", error.type = error_type, io_error = kind);
}

/// Returns a name for the kinds that an operator has to know.
fn io_kind(error: &std::io::Error) -> &'static str {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::StorageFull => "storage full",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::ReadOnlyFilesystem => "read-only file system",
        ErrorKind::ConnectionRefused => "connection refused",
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => "connection lost",
        ErrorKind::TimedOut => "timed out",
        _ => "other",
    }
}

/// Continues the current span in a task of its own.
pub(crate) fn in_current_span<F: Future>(future: F) -> impl Future<Output = F::Output> {
    #[cfg(feature = "tracing")]
    let future = tracing::Instrument::in_current_span(future);
    future
}

/// Runs a request in a span of its own. It has the route and not the path, which may have other ids.
pub(crate) async fn request<F: Future<Output = axum::response::Response>>(
    method: &str,
    route: &'static str,
    thread: Option<&str>,
    response: F,
) -> F::Output {
    #[cfg(feature = "tracing")]
    {
        let span = tracing::info_span!(
            target: "superstep_server",
            "http.request",
            request.id = uuid::Uuid::new_v4().simple().to_string(),
            http.request.method = method,
            http.route = route,
            http.response.status_code = tracing::field::Empty,
            gen_ai.conversation.id = thread.and_then(ThreadId::parse).map(|thread| thread.to_string()),
            graph.run.id = tracing::field::Empty,
        );
        let response = tracing::Instrument::instrument(response, span.clone()).await;
        span.record("http.response.status_code", response.status().as_u16());
        response
    }
    #[cfg(not(feature = "tracing"))]
    {
        let _ = (method, route, thread);
        response.await
    }
}

/// Executes a run in a span of its own. Not an async function, whose future would have room for the execution twice.
pub(crate) fn run<F: Future>(ids: &RunIds, execution: F) -> impl Future<Output = F::Output> + use<F> {
    #[cfg(feature = "tracing")]
    {
        let span = tracing::info_span!(
            target: "superstep_server",
            parent: None,
            "run.execute",
            graph.run.id = ids.run.to_string(),
            gen_ai.conversation.id = ids.thread(),
            gen_ai.agent.name = ids.graph.as_str(),
        );
        tracing::Instrument::instrument(execution, span)
    }
    #[cfg(not(feature = "tracing"))]
    {
        let _ = ids;
        execution
    }
}

#[cfg(test)]
#[cfg(feature = "tracing")]
pub(crate) mod recorder;
#[cfg(test)]
#[cfg(feature = "tracing")]
mod tests;
