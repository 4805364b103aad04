//! Opens a run that continues from its thread's head.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::checkpoint::{CheckpointError, Conflict, Loaded, TaskRecord};
use crate::engine::persist::{Begin, GoOn, Opened as OpenedThread, StoredQuestion, answer_records, open};
use crate::error::{Error, ErrorKind};
use crate::interrupt::Answer;
use crate::run::{Opened, Opening};

use super::AsNode;
use super::conflict_wait::ConflictWait;
use super::erased::{ErasedThread, OnErasedThread, Resume};
use super::load::read;
use super::start_run::{
    find_node, finished_outcome, persistence, require_checkpoint, start_driver, take_over,
};

/// Opens a run that continues from its thread's head.
pub(super) async fn open_resumed(
    on: OnErasedThread,
    how: Resume,
    mut opening: Opening,
) -> Result<Opened, Error> {
    let OnErasedThread { thread, at, on_conflict, .. } = on;
    let mut conflict_wait = ConflictWait::new(on_conflict, opening.options.stop.as_ref());
    loop {
        let mut loaded = read(&thread, at).await?;
        require_checkpoint(&thread, &loaded, at)?;
        let head = loaded.fence.head;
        let Some(stored) = loaded.found.take() else {
            return Err(thread.graph.refuse(ErrorKind::NoThread { thread: thread.name.to_string() }));
        };
        if let Some(seen) = how.seen.filter(|seen| *seen != loaded.fence) {
            let conflict = Conflict::new(Arc::clone(&thread.name), "", seen, loaded.fence);
            return Err(thread.graph.error(CheckpointError::conflict(conflict)));
        }
        if Some(stored.checkpoint.id) != head {
            let (thread_name, checkpoint) = (thread.name.to_string(), stored.checkpoint.id);
            return Err(thread.graph.refuse(ErrorKind::NotHead { thread: thread_name, checkpoint }));
        }
        let compiled = Arc::clone(&thread.graph.graph.0);
        let opened: OpenedThread =
            open(&compiled, &thread.name, stored).map_err(|kind| thread.graph.refuse(kind))?;
        let answers = answers(&thread, &opened, how.answers.clone())?;
        let goto = nodes(&thread, &how.goto)?;
        if opened.is_at_rest(&compiled) && goto.is_empty() {
            if how.update.is_some() {
                let thread_name = thread.name.to_string();
                return Err(thread.graph.refuse(ErrorKind::NothingToRun { thread: thread_name }));
            }
            return finished_outcome(&thread, opened, &opening);
        }
        let fence = loaded.fence;
        let go_on = GoOn { opened, answers, update: how.update.clone(), goto };
        match resume(&thread, loaded, go_on, &mut opening, &conflict_wait).await {
            Err(error) if conflict_wait.retries_after(&thread, &error, fence).await? => {}
            begun => return begun,
        }
    }
}

/// Continues from the thread's head, as part of the unfinished run there, if any.
pub(super) async fn resume(
    thread: &ErasedThread,
    loaded: Loaded,
    go_on: GoOn,
    opening: &mut Opening,
    conflict_wait: &ConflictWait,
) -> Result<Opened, Error> {
    let id = go_on.opened.run_id(&thread.graph.graph.0);
    let (persist, shared) = persistence(thread, loaded, id, opening)?;
    let driver = start_driver(opening.again(), persist, shared, Begin::GoOn(go_on))?;
    take_over(thread, driver, conflict_wait.is_allowed()).await
}

/// Builds the records of answers. Fails unless each answers a different open question.
fn answers(
    thread: &ErasedThread,
    opened: &OpenedThread,
    answers: Vec<Answer>,
) -> Result<Vec<TaskRecord>, Error> {
    let refuse = |kind| thread.graph.refuse(kind);
    let mut records: Vec<TaskRecord> = Vec::new();
    if answers.is_empty() {
        return Ok(records);
    }
    // An answered question is taken out, so that a second answer to it finds none.
    let mut open: HashMap<&str, (usize, &StoredQuestion)> = HashMap::new();
    for (task, known) in opened.known.iter().enumerate() {
        open.extend(known.questions.iter().map(|(id, open)| (id.as_str(), (task, open))));
    }
    for answer in answers {
        let id = answer.id().to_owned();
        let asked = open.remove(&*id).map(|(task, question)| {
            let open = question.clone().open(id.clone(), "", task);
            (task, question, open.as_answered(&answer).map(Cow::into_owned))
        });
        match asked {
            Some((task, question, Some(form))) => {
                let (json, version) = answer.checked(&form).map_err(refuse)?;
                records.extend(answer_records(task, &id, question, (&json, version)));
            }
            asked => {
                let changed = asked.is_some();
                return Err(refuse(ErrorKind::InterruptNotOpen {
                    thread: thread.name.to_string(),
                    id,
                    changed,
                }));
            }
        }
    }
    Ok(records)
}

/// Finds the indices of nodes in the graph.
fn nodes(thread: &ErasedThread, places: &[AsNode]) -> Result<Vec<usize>, Error> {
    places.iter().map(|place| find_node(&thread.graph.graph, &place.node)).collect()
}
