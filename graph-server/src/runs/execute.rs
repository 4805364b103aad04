use std::future::poll_fn;
use std::sync::Arc;
use std::time::Instant;

use super::finish::{Ended, finish};
use super::job::Job;
use super::position::{Restored, RunPosition};
use super::{LiveRun, RunOutcome};
use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::events::LoggedEvent;
use crate::graphs::{Execution, RunFailure, ServedKind, Way};
use crate::log;
use crate::protocol::{RunStatus, ThreadId, ThreadStatus};

/// Executes the runs of a thread until none is ready.
pub(super) async fn work_on(app: Arc<App>, thread: ThreadId) {
    while let Some(job) = app.runs.start_next(thread) {
        let _active = Active { app: &app, thread, live: Arc::clone(&job.live) };
        execute(&app, job).await;
    }
}

/// The active run of a thread. The thread continues with its next run also if a panic ends this one.
struct Active<'a> {
    app: &'a Arc<App>,
    thread: ThreadId,
    live: Arc<LiveRun>,
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        if self.live.outcome().is_none() {
            self.live.end(RunOutcome::Failed(RunFailure::new(
                "InternalError",
                "the server has failed; see its log",
            )));
            self.app.runs.remove(&self.live);
        }
        self.app.runs.finish(self.thread);
        if std::thread::panicking() {
            self.app.runs.spawn(work_on(Arc::clone(self.app), self.thread));
        }
    }
}

/// Executes a run to its end, and stores its result.
pub(super) async fn execute(app: &Arc<App>, job: Box<Job>) {
    let live = Arc::clone(&job.live);
    log::run(&live.ids, async {
        let since = Instant::now();
        let (graph, temporary, webhook) = (Arc::clone(&job.graph), job.temporary, job.webhook.clone());
        let (began, (outcome, base)) = match live.cancel_requested() {
            Some(_) => (job.again, (RunOutcome::Cancelled, None)),
            None => {
                log::run_started(&live.ids);
                (true, run(app, job).await)
            }
        };
        // In a box, so that a run has no room for its end while it goes on.
        Box::pin(finish(app, &live, &graph, Ended { outcome, began, base, temporary, webhook, since })).await;
    })
    .await;
}

type Base = Option<superstep::checkpoint::CheckpointId>;

async fn run(app: &App, mut job: Box<Job>) -> (RunOutcome, Base) {
    // The converter stays in the box, so that the future has no room for a second one.
    let (live, prepared, events, way, again) =
        (Arc::clone(&job.live), job.prepared, job.events, job.way, job.again);
    let converter = &mut job.converter;
    live.set_running();
    if let Some(thread) = live.thread_id {
        app.thread_streams.push_classic(thread, || converter.metadata(live.log.epoch()));
    }
    let thread: Option<Arc<str>> = live.thread_id.map(|thread| thread.to_string().into());
    let decided = match way {
        Some(way) => Ok(way),
        None => {
            let deciding = prepared.decide(thread.as_deref());
            // In a box, as the end: most of the time of a run, its future is that of its events.
            Box::pin(decide(app, &live, deciding)).await
        }
    };
    let base = decided.as_ref().ok().and_then(|way| way.base);
    if let Some(base) = base {
        live.continue_from(base);
    }
    let started = match decided {
        Ok(way) => {
            let stop = live.stop.clone();
            prepared.start(Execution { thread, way, modes: events, stop, again }).await
        }
        Err(failure) => Err(failure),
    };
    let mut position = RunPosition::new(live.restored_at.get().copied());
    let mut outcome = None;
    let failure = match started {
        Err(failure) => Some(failure),
        Ok(mut stream) => loop {
            let event = match poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
                Some(Ok(event)) => event,
                Some(Err(failure)) => break Some(failure),
                None => break None,
            };
            live.send_to_thread(&event);
            // It does not outlast the event, so that a run that waits has no room for others.
            let mut log = Vec::new();
            converter.convert(&event, &mut log);
            let restored = position.notice(&event);
            if restored == Restored::State {
                // A client that comes back gets it from its checkpoint.
                log.clear();
            }
            let stops = matches!(event.kind, ServedKind::Interrupted { .. });
            for mut event in log {
                event.position = if stops { position.stop() } else { position.get() };
                event.restored = restored == Restored::Task;
                publish(app, &live, event);
            }
            match event.kind {
                ServedKind::Done { values } => outcome = Some(RunOutcome::Done(values)),
                ServedKind::Interrupted { values, stopped } => {
                    outcome = Some(if stopped.drained {
                        RunOutcome::HandedOver
                    } else {
                        RunOutcome::Stopped { values, interrupts: stopped.interrupts }
                    });
                }
                _ => {}
            }
        },
    };
    let outcome = match (failure, outcome) {
        (Some(failure), _) if failure.cancelled => RunOutcome::Cancelled,
        (Some(failure), _) => {
            publish(app, &live, LoggedEvent { position: position.stop(), ..converter.failure(&failure) });
            RunOutcome::Failed(failure)
        }
        (None, Some(outcome)) => outcome,
        (None, None) => {
            RunOutcome::Failed(RunFailure::new("InternalError", "the run has ended without an outcome"))
        }
    };
    (outcome, base)
}

/// Sends an event to the readers of the run and of its thread.
fn publish(app: &App, live: &LiveRun, event: LoggedEvent) {
    let event = Arc::new(event);
    if let Some(thread) = live.thread_id {
        app.thread_streams.push_classic(thread, || Arc::clone(&event));
    }
    live.log.push(event);
}

/// Decides how a run begins whose turn has come, and stores it.
async fn decide(
    app: &App,
    live: &LiveRun,
    deciding: impl Future<Output = ApiResult<Way>>,
) -> Result<Way, RunFailure> {
    let way = deciding.await?;
    if let Some(thread) = live.thread_id {
        let stored = app.records.change_run(thread, live.run_id, |record, thread| {
            record.run.status = RunStatus::Running;
            thread.status = ThreadStatus::Busy;
            record.way = Some(way.clone());
        });
        stored.await.map_err(ApiError::from)?;
    }
    Ok(way)
}
