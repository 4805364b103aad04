use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use superstep::checkpoint::CheckpointId;
use superstep::store::StoreError;

use super::LiveRun;
use super::accept::{find_graph, prepare_again, send_thread_events};
use super::dispatch::fill;
use super::finish::{Ended, finish};
use super::job::Job;
use super::outcome::RunOutcome;
use crate::app::App;
use crate::graphs::{AnyGraph, RunFailure};
use crate::log::{self, RunIds};
use crate::protocol::{CancelAction, MultitaskStrategy, RunRequest, RunStatus, Timestamp, read_body};
use crate::records::RunRecord;
use crate::stream::Converter;
use crate::thread_life;

/// Continues the runs that an earlier process has not finished, in the order in which it accepted them.
///
/// # Errors
/// The store fails. Runs that were found before continue.
pub(crate) async fn recover(app: &Arc<App>) -> Result<(), StoreError> {
    let mut records = app.records.open_runs().await?;
    cancel_earlier(&mut records);
    for record in records {
        continue_run(app, record).await?;
    }
    Ok(())
}

/// Cancels the runs that were to be cancelled when a later run of their thread was accepted. The runs are in the order in
/// which they were accepted.
fn cancel_earlier(records: &mut [RunRecord]) {
    let mut actions = HashMap::new();
    for record in records.iter_mut().rev() {
        let thread = record.run.thread_id;
        if record.cancel != Some(CancelAction::Rollback) {
            record.cancel = actions.get(&thread).copied().or(record.cancel);
        }
        let action = match record.run.multitask_strategy {
            MultitaskStrategy::Interrupt => CancelAction::Interrupt,
            MultitaskStrategy::Rollback => CancelAction::Rollback,
            MultitaskStrategy::Reject | MultitaskStrategy::Enqueue => continue,
        };
        // A roll back is stronger than an interruption.
        if actions.get(&thread) != Some(&CancelAction::Rollback) {
            actions.insert(thread, action);
        }
    }
}

async fn continue_run(app: &Arc<App>, record: RunRecord) -> Result<(), StoreError> {
    let (thread, run) = (record.run.thread_id, record.run.run_id);
    if record.has_ended {
        // If this fails, the next server tries it again.
        let _ = thread_life::delete(app, thread).await;
        return Ok(());
    }
    let epoch = record.epoch + 1;
    let request = read_body::<RunRequest>(Value::Object(record.run.kwargs.clone()));
    let request = request.map_err(|problems| RunFailure::new("ValueError", problems.to_string()));
    let graph = find_graph(app, &record.graph_id);
    let events_log = app.runs.new_log(epoch, request.as_ref().is_ok_and(|request| request.stream_resumable));
    let webhook = record.run.kwargs.get("webhook").and_then(Value::as_str).map(str::to_owned);
    let ids = RunIds { run, thread: Some(thread), graph: record.graph_id.clone() };
    let live = LiveRun::new(ids, record.user_id.clone(), events_log, app.runs.stop.child());
    if let Some(action) = record.cancel {
        live.request_cancel(action);
    }
    let graph = match graph {
        Ok(graph) => graph,
        // The graph may come back with the next program, so the run stays open.
        Err(_) => return Ok(()),
    };
    app.records.change_run(thread, run, |record, _| record.epoch = epoch).await?;
    log::run_taken_up(&live.ids, epoch);
    let again = record.run.status == RunStatus::Running;
    if again && let Some(checkpoint) = restored_at(&graph, &record).await {
        let _first = live.restored_at.set(checkpoint);
    }
    let prepared = request.and_then(|request| {
        let (prepared, stream) = prepare_again(&graph, &request, &record)?;
        let events = send_thread_events(app, &live, &request, &stream, epoch);
        Ok((prepared, Converter::new(stream), events))
    });
    match prepared {
        Ok((prepared, converter, events)) => {
            live.log.push(converter.metadata(epoch));
            let way = record.way.clone();
            let job = Job {
                live: Arc::clone(&live),
                graph,
                prepared,
                converter,
                events,
                way,
                again,
                temporary: record.temporary,
                webhook,
            };
            // The queue was long enough for the run before.
            let delay = record.due_at.map(|due| due.since(Timestamp::now())).filter(|delay| !delay.is_zero());
            if app.runs.reserve(thread, &live, MultitaskStrategy::Enqueue, delay.is_some()).is_ok() {
                app.runs.add(&live);
                fill(app, thread, Box::new(job), delay);
            }
        }
        Err(failure) => {
            let outcome = RunOutcome::Failed(failure);
            let (temporary, since) = (record.temporary, Instant::now());
            let ended = Ended { outcome, began: true, base: None, temporary, webhook, since };
            finish(app, &live, &graph, ended).await;
        }
    }
    Ok(())
}

/// Returns the latest checkpoint of the thread, if it is one of the run.
async fn restored_at(graph: &Arc<dyn AnyGraph>, record: &RunRecord) -> Option<CheckpointId> {
    // If it cannot be read now, the run reports the failure.
    let state = graph.state(&record.run.thread_id.to_string(), None).await.ok()??;
    let run = state.metadata.get("run_id").and_then(Value::as_str);
    (run == Some(&*record.run.run_id.to_string())).then_some(state.id)
}
