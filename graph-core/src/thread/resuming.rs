//! Opens a run that continues from its thread's head.

use std::sync::Arc;

use crate::checkpoint::Loaded;
use crate::engine::{Begin, GivenAnswer, RefusedAnswer, RestoredCheckpoint, Resumption, check_answers, open};
use crate::error::{Error, ErrorKind};
use crate::interrupt::Answer;
use crate::run::{Opened, Opening};

use super::conflict_wait::ConflictWait;
use super::erased::{ErasedThread, OnErasedThread, Resume};
use super::load::read;
use super::resolve_goto::resolve_gotos;
use super::start_run::{finished_outcome, persistence, require_checkpoint, start_driver, take_over};

/// Opens a run that continues from its thread's head.
pub(super) async fn open_resumed(
    on: OnErasedThread,
    how: Resume,
    mut opening: Opening,
) -> Result<Opened, Error> {
    let OnErasedThread { thread, at, on_conflict, expected, .. } = on;
    let mut conflict_wait = ConflictWait::new(on_conflict, opening.options.stop.as_ref());
    loop {
        let mut loaded = read(&thread, at).await?;
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
        if restored.is_at_rest(&compiled) && goto.is_empty() {
            if how.update.is_some() {
                let thread_name = thread.name.to_string();
                return Err(thread.graph.refuse(ErrorKind::NothingToRun { thread: thread_name }));
            }
            return finished_outcome(&thread, restored, &opening);
        }
        let fence = loaded.fence;
        let resumption = Resumption { restored, answers, update: how.update.clone(), goto };
        match resume(&thread, loaded, resumption, &mut opening, &conflict_wait).await {
            Err(error) if conflict_wait.retries_after(&thread, &error, fence).await? => {}
            begun => return begun,
        }
    }
}

/// Continues from the thread's head, as part of the unfinished run there, if any.
pub(super) async fn resume(
    thread: &ErasedThread,
    loaded: Loaded,
    resumption: Resumption,
    opening: &mut Opening,
    conflict_wait: &ConflictWait,
) -> Result<Opened, Error> {
    let id = resumption.restored.run_id(&thread.graph.graph.0);
    let (persist, shared) = persistence(thread, loaded, id, opening)?;
    let driver = start_driver(opening.again(), persist, shared, Begin::Resumption(resumption))?;
    take_over(thread, driver, conflict_wait.is_allowed()).await
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
