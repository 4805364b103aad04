use crate::checkpoint::{RecordKind, TaskRecord};
use crate::engine::graph::Compiled;
use crate::engine::task::{Builder, Encoded, Finished};
use crate::erased::{StateType, TaskWrites};
use crate::payload::Payload;
use crate::plan::Task;
use crate::state::{Decoded, EncodeError};
use crate::step::Leave;

use super::json::json_record;
use super::keys::{key, parse_write_key, place, write_key};
use super::stored_command::command_records;
use super::stored_finish::StoredFinish;

/// Returns the records of encoded writes.
pub(crate) fn write_records(
    state: &'static StateType,
    task: u32,
    kind: RecordKind,
    encoded: &Encoded,
) -> Vec<TaskRecord> {
    let writes = encoded.writes.iter().enumerate();
    let records = writes.filter_map(|(ordinal, write)| {
        let name = state.field(write.field)?.name;
        let payload = encoded.payload(write)?;
        Some(TaskRecord::new(key(task, kind, &write_key(ordinal, write.form, name)), payload))
    });
    records.collect()
}

/// Returns the records of a finished task.
pub(crate) fn finished_records(
    graph: &Compiled,
    index: usize,
    task: &Task,
    finished: &Finished,
) -> Result<Vec<TaskRecord>, EncodeError> {
    let place = place(index);
    let (mut records, versions) = match &finished.leave {
        Leave::ErasedParentCommand(command) => command_records(place, command)?,
        _ => {
            let records = finished
                .encoded
                .as_ref()
                .map(|encoded| write_records(graph.state, place, RecordKind::Write, encoded));
            (records.unwrap_or_default(), graph.state.versions())
        }
    };
    let finish = StoredFinish::of(graph, task, &finished.leave, versions)?;
    records.push(json_record(key(place, RecordKind::Finished, ""), &finish)?);
    Ok(records)
}

/// Writes that were read back, with their stored form.
pub(crate) type ReadWrites = (TaskWrites, Encoded);

/// Reads writes back. Skips fields that the state no longer has.
pub(crate) fn decode_writes<'r>(
    state: &'static StateType,
    records: impl Iterator<Item = (&'r str, &'r Payload)>,
) -> Result<ReadWrites, (String, String)> {
    let (mut writes, mut encoded) = (TaskWrites::default(), Builder::default());
    for (key, payload) in records {
        let Some((form, field)) = parse_write_key(key) else {
            return Err((
                format!("the write `{key}`"),
                "this version does not know the form of its key".to_owned(),
            ));
        };
        match (state.decode)(field, form, payload, writes.of_type(state)) {
            Decoded::Write(field) => encoded.add(field, form, payload),
            Decoded::Unknown => {}
            Decoded::Invalid(error) => {
                return Err((format!("the write to field `{field}`"), error.to_string()));
            }
        }
    }
    Ok((writes, encoded.finish()))
}
