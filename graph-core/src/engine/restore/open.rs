use std::sync::Arc;

use crate::checkpoint::{
    ChangeKind, Checkpoint, RecordKey, RecordKind, StoredChange, StoredCheckpoint, StoredField, TaskRecord,
};
use crate::engine::apply::CallWrites;
use crate::engine::graph::Compiled;
use crate::engine::stored::{
    START, StoredTask, Unplanned, is_delta, parse_write_key, planned_at, progress, read_breakpoints,
    read_stopped, read_task, step_number, unplanned_kind,
};
use crate::engine::task::Finished;
use crate::erased::{ErasedState, TaskWrites};
use crate::error::ErrorKind;
use crate::payload::Payload;
use crate::plan::Task;
use crate::state::Form;
use crate::step::Leave;

use super::read_onto::returned;
use super::read_records::RecordReader;
use super::restored_checkpoint::RestoredCheckpoint;
use super::restored_state::read_state;

/// Restores a checkpoint: its state, its plan and its tasks' records.
pub(crate) fn open(
    graph: &Compiled,
    thread: &Arc<str>,
    stored: StoredCheckpoint,
) -> Result<RestoredCheckpoint, ErrorKind> {
    read(graph, thread, stored, None).map(|(restored, _)| restored)
}

/// Restores a checkpoint of a subgraph run, which may work on the given parent state.
pub(crate) fn open_call(
    graph: &Compiled,
    thread: &Arc<str>,
    stored: StoredCheckpoint,
    base: Option<&dyn ErasedState>,
) -> Result<RestoredCheckpoint, ErrorKind> {
    read(graph, thread, stored, base).map(|(restored, _)| restored)
}

/// Restores a checkpoint of a subgraph run on the parent state, and returns the run's writes so far.
pub(crate) fn open_onto(
    graph: &Compiled,
    thread: &Arc<str>,
    stored: StoredCheckpoint,
    base: &dyn ErasedState,
) -> Result<(RestoredCheckpoint, CallWrites), ErrorKind> {
    let (restored, written) = read(graph, thread, stored, Some(base))?;
    let alive: Vec<usize> = restored.ephemerals.alive().map(|(field, ..)| field).collect();
    Ok((restored, returned(graph.state, &written.unwrap_or_default(), &alive)))
}

/// Restores a checkpoint. Returns the writes of the run so far as well, if it works on the parent state `base`.
fn read(
    graph: &Compiled,
    thread: &Arc<str>,
    stored: StoredCheckpoint,
    base: Option<&dyn ErasedState>,
) -> Result<(RestoredCheckpoint, Option<TaskWrites>), ErrorKind> {
    let StoredCheckpoint { checkpoint, fields, records, .. } = stored;
    let is_input = checkpoint.next.iter().any(|next| &**next == START);
    let (mut fields, mut given_fields) = (fields, Vec::new());
    let fresh = is_input && fields.is_empty();
    if fresh {
        (fields, given_fields) = given(&checkpoint, &records);
    }
    let reader = RecordReader { graph, thread, checkpoint: &checkpoint, records: &records };
    let (mut read, written) = match base {
        None => (read_state(graph.state, thread, &checkpoint, fields)?, None),
        Some(base) => {
            let (read, written) = reader.onto(base, &fields)?;
            (read, Some(written))
        }
    };
    let patched = reader.patch(&mut read)?;
    let mut progress = progress::read(thread, &checkpoint)?;
    let next: &[Arc<str>] = if is_input { &[] } else { &checkpoint.next };
    let (mut tasks, planned) =
        progress.resume(graph, next).map_err(|unplanned| unplanned_kind(thread, &checkpoint, unplanned))?;
    for record in reader.of(RecordKey::NO_TASK, RecordKind::Goto) {
        let added = added_task(graph, &record.payload);
        tasks.push(added.map_err(|unplanned| unplanned_kind(thread, &checkpoint, unplanned))?);
    }
    let task_progress = tasks
        .iter()
        .enumerate()
        .map(|(index, task)| reader.task_progress(index, graph.node_name(task.node), task));
    let task_progress = task_progress.collect::<Result<_, _>>()?;
    let parent_commands = if tasks.is_empty() && !is_input { reader.all_commands()? } else { Vec::new() };
    let mut input = None;
    if is_input {
        let writes =
            reader.of(0, RecordKind::Write).filter(|&record| !given_fields.is_empty() || is_delta(record));
        let (writes, encoded) = reader.writes(writes, None)?;
        input = Some(Finished { writes, leave: Leave::ByEdges, encoded: Some(Box::new(encoded)) });
    }
    let breakpoints = read_breakpoints(thread, &checkpoint, &records)?;
    let stopped = read_stopped(thread, &checkpoint, &records)?;
    let mut ephemerals = progress.ephemerals(graph);
    ephemerals.record_writes(step_number(checkpoint.step), &[], |field| patched.contains(&field));
    let names = |name: &String| graph.state.field_named(name);
    let restored = RestoredCheckpoint {
        state: read.state,
        changes: read.changes,
        tasks,
        progress: planned,
        ephemerals,
        task_progress,
        input,
        given: given_fields.iter().filter_map(names).collect(),
        fresh,
        breakpoints,
        stopped,
        enter: std::mem::take(&mut progress.enter),
        parent_commands,
        planned_at: planned_at(thread, &checkpoint)?,
        checkpoint,
        records,
    };
    Ok((restored, written))
}

/// Restores a task that a resumption has added.
fn added_task(graph: &Compiled, payload: &Payload) -> Result<Task, Unplanned> {
    let added = StoredTask::read(payload)?;
    read_task(graph, &added.node, added.packet.as_deref())
}

/// Restores the state of a checkpoint without its plan.
pub(crate) fn open_state(
    graph: &Compiled,
    thread: &Arc<str>,
    stored: StoredCheckpoint,
) -> Result<RestoredCheckpoint, ErrorKind> {
    let mut stored = stored;
    let waits = stored.checkpoint.next.iter().any(|next| &**next == START);
    stored.checkpoint.next.retain(|next| &**next == START);
    // The first input of a thread has no state before it: the input is the state, and updates of earlier resumes
    // belong to it.
    let first_input = waits && stored.fields.is_empty();
    stored.records.retain(|record| first_input || record.key.kind == RecordKind::Patch);
    stored.checkpoint.progress = progress::without_tasks(thread, &stored.checkpoint)?;
    open(graph, thread, stored)
}

/// Returns the fields that the first input of a thread sets directly, without a reducer. Nothing else of the state is
/// stored yet.
fn given(checkpoint: &Checkpoint, records: &[TaskRecord]) -> (Vec<StoredField>, Vec<String>) {
    let writes = records.iter().filter(|record| record.key.task == 0 && record.key.kind == RecordKind::Write);
    let (mut fields, mut names) = (Vec::new(), Vec::new());
    for record in writes {
        let Some((Form::Overwrite, field)) = parse_write_key(&record.key.key) else { continue };
        names.push(field.to_owned());
        let change = StoredChange::new(checkpoint.id, ChangeKind::Value, record.payload.clone());
        fields.push(StoredField::new(field.to_owned(), vec![change]));
    }
    (fields, names)
}
