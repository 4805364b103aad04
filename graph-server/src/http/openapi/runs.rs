use serde_json::{Map, Value};

use super::super::run_queries::{CancelManyQuery, CancelQuery, JoinQuery, RunList, StreamQuery};
use super::Described;
use super::assistants::pages;
use super::events::run_event;
use super::operation::Operation;
use super::selected::Selected;
use crate::protocol::{
    BatchedRun, CancelRuns, Cron, CronCreate, CronFilter, CronPatch, CronSearch, Run, RunRequest,
};

pub(super) const ROUTES: &[Described] = &[
    ("GET", "/threads/{thread}/runs", "list_runs", |op| {
        op.query::<RunList>().ok::<Vec<Selected<Run>>>("The runs, newest first.");
    }),
    ("POST", "/threads/{thread}/runs", "create_run", background),
    ("POST", "/threads/{thread}/runs/stream", "stream_run", streamed),
    ("POST", "/threads/{thread}/runs/wait", "wait_run", awaited),
    ("GET", "/threads/{thread}/runs/{run}", "get_run", |op| {
        op.ok::<Run>("The run.");
    }),
    ("DELETE", "/threads/{thread}/runs/{run}", "delete_run", |op| {
        op.empty(204, "The run is deleted.").error(409, "The run has not ended.");
    }),
    ("GET", "/threads/{thread}/runs/{run}/join", "join_run", joined),
    ("GET", "/threads/{thread}/runs/{run}/stream", "join_run_stream", stream_joined),
    ("POST", "/threads/{thread}/runs/{run}/cancel", "cancel_run", cancelled),
    ("POST", "/runs", "create_stateless_run", background),
    ("POST", "/runs/stream", "stream_stateless_run", streamed),
    ("POST", "/runs/wait", "wait_stateless_run", awaited),
    ("POST", "/runs/batch", "create_run_batch", |op| {
        op.body::<Vec<BatchedRun>>().ok::<Vec<Run>>("The runs, in the order of the batch.");
        accepted(op);
    }),
    ("POST", "/runs/cancel", "cancel_runs", |op| {
        op.query::<CancelManyQuery>().body::<CancelRuns>().empty(204, "The runs are cancelled.");
        op.error(404, "A run has ended or does not exist, or the caller does not see it.");
    }),
    ("GET", "/runs/{run}/join", "join_stateless_run", joined),
    ("GET", "/runs/{run}/stream", "join_stateless_run_stream", stream_joined),
    ("POST", "/runs/{run}/cancel", "cancel_stateless_run", cancelled),
    ("POST", "/runs/crons", "create_cron", cron),
    ("POST", "/threads/{thread}/runs/crons", "create_thread_cron", cron),
    ("POST", "/runs/crons/search", "search_crons", |op| {
        op.body::<CronSearch>().ok::<Vec<Selected<Cron>>>("The crons of the page.");
        pages(op);
    }),
    ("POST", "/runs/crons/count", "count_crons", |op| {
        op.body::<CronFilter>().ok::<usize>("The number of crons.");
    }),
    ("GET", "/runs/crons/{cron}", "get_cron", |op| {
        op.ok::<Cron>("The cron.");
    }),
    ("PATCH", "/runs/crons/{cron}", "update_cron", |op| {
        op.about("The other fields of the body replace those of the request for the runs.");
        op.body::<CronPatch>().ok::<Cron>("The cron.");
        op.error(409, "The runs could not be accepted on their thread.");
    }),
    ("DELETE", "/runs/crons/{cron}", "delete_cron", |op| {
        op.empty(204, "The cron is deleted.");
    }),
];

fn cron(op: &mut Operation<'_>) {
    op.body::<CronCreate>().ok::<Cron>("The cron.");
    accepted(op);
}

/// The reasons why a run is not accepted.
fn accepted(op: &mut Operation<'_>) {
    op.error(404, "There is no such thread, assistant or checkpoint.");
    op.error(409, "The thread is busy with a run, and the request does not want to wait.");
}

fn background(op: &mut Operation<'_>) {
    op.body::<RunRequest>().ok::<Run>("The run.");
    op.header("Content-Location", "The path of the run.")
        .header("Location", "The path that waits for its result.");
    accepted(op);
}

fn streamed(op: &mut Operation<'_>) {
    op.body::<RunRequest>();
    let event = run_event(op.generator);
    op.events("The events of the run. The stream ends with the run.", &event);
    op.header("Content-Location", "The path of the run.")
        .header("Location", "The path that continues the stream.");
    accepted(op);
}

/// The state at the end of a run, with `__interrupt__` if it has stopped at questions, or `__error__`.
type Outcome = Map<String, Value>;

const OUTCOME: &str = "The state, as the `state_schema` of the graph describes it. `__interrupt__` has the questions at which the \
                       run has stopped. A run that has failed is `__error__` alone.";

fn awaited(op: &mut Operation<'_>) {
    op.body::<RunRequest>().ok::<Outcome>(OUTCOME);
    op.header("Content-Location", "The path of the run.")
        .header("Location", "The path that waits for its result.");
    accepted(op);
}

fn joined(op: &mut Operation<'_>) {
    op.query::<JoinQuery>().ok::<Outcome>(OUTCOME);
}

fn stream_joined(op: &mut Operation<'_>) {
    op.request_header(
        "Last-Event-ID",
        "The id of the last event that the client has seen. `-1` for all events.",
    );
    op.query::<StreamQuery>();
    let event = run_event(op.generator);
    op.events("The events of the run. The stream ends with the run.", &event);
}

fn cancelled(op: &mut Operation<'_>) {
    op.query::<CancelQuery>().empty(202, "The run will be cancelled.");
    op.ok::<Map<String, Value>>("The run was cancelled and has ended. The object is empty.");
}
