//! Opens a run that continues from its thread's head.

use std::sync::Arc;

use crate::checkpoint::Loaded;
use crate::engine::{
    GivenAnswer, RefusedAnswer, RestoredCheckpoint, Resumption, RunStart, check_answers, open,
};
use crate::error::{Error, ErrorKind};
use crate::interrupt::Answer;
use crate::run::{Opened, Opening};

use super::conflict_wait::ConflictWait;
use super::erased::{ErasedThread, Expected, OnErasedThread, Resume};
use super::find_request::Request;
use super::find_run::{FoundRun, UnfinishedRun};
use super::load::read;
use super::request_digest;
use super::resolve_goto::resolve_gotos;
use super::start_run::{
    finished_outcome, fresh_run_id, persistence, require_checkpoint, start_driver, take_over,
};

/// Opens a run that continues from its thread's head.
pub(super) async fn open_resumed(
    on: OnErasedThread,
    how: Resume,
    mut opening: Opening,
) -> Result<Opened, Error> {
    let OnErasedThread { thread, at, on_conflict, expected, .. } = on;
    let mut conflict_wait = ConflictWait::new(on_conflict, opening.options.stop.as_ref());
    let request = how.request();
    loop {
        let mut loaded = read(&thread, at).await?;
        // This follows the read of the thread: if another sender makes the same request now, our first write is refused.
        if let Some(request) = &request
            && let Some(found) = request.find(&thread.graph, &thread.name, &Arc::from("")).await?
            && let Some(run) = found.run(&thread, &*opening.context).await?
        {
            match take_up(&thread, run, expected, &mut opening, &mut conflict_wait).await? {
                Some(opened) => return Ok(opened),
                None => continue,
            }
        }
        require_checkpoint(&thread, &loaded, at)?;
        let head = loaded.fence.head;
        let Some(stored) = loaded.found.take() else {
            return Err(thread.graph.refuse(ErrorKind::NoThread { thread: thread.name.to_string() }));
        };
        expected.check(&thread, loaded.fence)?;
        if Some(stored.checkpoint.id) != head {
            let (thread_name, checkpoint) = (thread.name.to_string(), stored.checkpoint.id);
            return Err(thread.graph.refuse(ErrorKind::NotHead { thread: thread_name, checkpoint }));
        }
        let compiled = Arc::clone(&thread.graph.graph.0);
        let restored: RestoredCheckpoint =
            open(&compiled, &thread.name, stored).map_err(|kind| thread.graph.refuse(kind))?;
        let answers = answers(&thread, &restored, how.answers.clone())?;
        let goto = resolve_gotos(&thread.graph.graph, &how.goto)?;
        if restored.is_finished(&compiled) && goto.is_empty() {
            if how.update.is_some() {
                let thread_name = thread.name.to_string();
                return Err(thread.graph.refuse(ErrorKind::NothingToRun { thread: thread_name }));
            }
            let Some(request) = &request else { return finished_outcome(&thread, restored, &opening) };
            let fence = loaded.fence;
            match store_request(&thread, loaded, request, &mut opening).await {
                Ok(()) => return finished_outcome(&thread, restored, &opening),
                Err(error) if conflict_wait.retries_start_after(&thread, &error, fence).await? => continue,
                Err(error) => return Err(error),
            }
        }
        let fence = loaded.fence;
        let id = restored.run_id(&compiled).unwrap_or_else(fresh_run_id);
        let added_run = (!goto.is_empty()).then(|| Arc::clone(&id));
        let record = request.as_ref().and_then(|request| request.resumption_record(added_run));
        let is_request = record.is_some();
        let resumption = Resumption { restored, answers, update: how.update.clone(), goto, request: record };
        let error = match resume(&thread, loaded, id, resumption, &mut opening, &conflict_wait).await {
            Ok(begun) => return Ok(begun),
            Err(error) => error,
        };
        let again = match is_request {
            true => conflict_wait.retries_start_after(&thread, &error, fence).await?,
            false => conflict_wait.retries_after(&thread, &error, fence).await?,
        };
        if !again {
            return Err(error);
        }
    }
}

/// Continues a run that was found, or returns its outcome. Returns `None` if the thread has to be read again.
pub(super) async fn take_up(
    thread: &ErasedThread,
    found: FoundRun,
    expected: Expected,
    opening: &mut Opening,
    conflict_wait: &mut ConflictWait,
) -> Result<Option<Opened>, Error> {
    let unfinished = match found {
        FoundRun::Ended(step, outcome) => return Ok(Some(Opened::Ended(step, outcome))),
        FoundRun::Unfinished(unfinished) => unfinished,
    };
    let fence = unfinished.loaded.fence;
    expected.check(thread, fence)?;
    let id = unfinished.restored.run_id(&thread.graph.graph.0).unwrap_or_else(fresh_run_id);
    // Another process may still be running it, so wait as long as the options allow.
    let orphan = thread.graph.abandoned.has(&thread.name, &id, fence.epoch);
    if unfinished.may_be_running() && !orphan && conflict_wait.wait_briefly(thread).await? {
        return Ok(None);
    }
    let UnfinishedRun { loaded, restored } = *unfinished;
    match resume(thread, loaded, id, Resumption::at(restored), opening, conflict_wait).await {
        Err(error) if conflict_wait.retries_after(thread, &error, fence).await? => Ok(None),
        begun => begun.map(Some),
    }
}

/// Stores a request to continue a thread that has nothing left to run. Nothing else changes.
async fn store_request(
    thread: &ErasedThread,
    loaded: Loaded,
    request: &Request,
    opening: &mut Opening,
) -> Result<(), Error> {
    let status = loaded.status;
    let (mut persist, _) = persistence(thread, loaded, None, opening)?;
    persist.records(request.resumption_record(None).into_iter().collect(), Vec::new());
    persist.set_status(status);
    persist.flush().await.map_err(|error| thread.graph.refuse(ErrorKind::store(error)))
}

impl Resume {
    /// Returns the request, if the caller has given it an idempotency key.
    fn request(&self) -> Option<Request> {
        let key = Arc::clone(self.idempotency_key.as_ref()?);
        let digest = request_digest::of_resumption(&self.answers, self.update.as_ref(), &self.goto);
        Some(Request { key, digest })
    }
}

/// Continues from the thread's head, as part of the run with this id.
async fn resume(
    thread: &ErasedThread,
    loaded: Loaded,
    id: Arc<str>,
    resumption: Resumption,
    opening: &mut Opening,
    conflict_wait: &ConflictWait,
) -> Result<Opened, Error> {
    let (persist, shared) = persistence(thread, loaded, Some(id), opening)?;
    // The request and its effects are stored in one write, whatever the durability.
    let visible = conflict_wait.is_allowed() || resumption.request.is_some();
    let driver = start_driver(opening.again(), persist, shared, RunStart::Resumption(resumption))?;
    take_over(thread, driver, visible).await
}

/// Checks answers. Each has to answer a different open question.
fn answers(
    thread: &ErasedThread,
    restored: &RestoredCheckpoint,
    answers: Vec<Answer>,
) -> Result<Vec<GivenAnswer>, Error> {
    let tasks = restored.task_progress.iter().enumerate();
    let open = tasks.flat_map(|(task, progress)| progress.questions.iter().map(move |open| (task, open)));
    check_answers(open, answers).map_err(|refused| {
        let (id, changed) = match refused {
            RefusedAnswer::NotOpen { id } | RefusedAnswer::Repeated { id } => (id, false),
            RefusedAnswer::Changed { id } => (id, true),
            RefusedAnswer::Invalid(kind) => return thread.graph.refuse(kind),
        };
        thread.graph.refuse(ErrorKind::InterruptNotOpen { thread: thread.name.to_string(), id, changed })
    })
}
