use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::checkpoint::{RecordKey, RecordKind, TaskRecord};
use crate::engine::also_null::also_null;
use crate::engine::desk::waits_again;
use crate::engine::encoded::{Builder, Encoded};
use crate::engine::erased::{StateType, TaskWrites};
use crate::engine::policy::{Due, Tried, Tries};
use crate::engine::task::Finished;
use crate::error::NodeFailure;
use crate::graph::Compiled;
use crate::limits::MAX_PAYLOAD_BYTES;
use crate::node::{Choice, Leave};
use crate::payload::Payload;
use crate::plan::Task;
use crate::state::{Decoded, EncodeError, Form, MigrationError};

use super::progress::packet_json;
use super::said::{StoredSaid, said_records};

/// The end of a task, without its writes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StoredFinish {
    /// The exits that the task's route took; `None` if it left by edges, or if its route function was not called yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exits: Option<Vec<StoredChoice>>,
    /// The state versions of its writes that are not 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) versions: Vec<(String, u32)>,
    /// Its command to the parent graph. The writes are then writes to the parent state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) said: Option<StoredSaid>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredChoice {
    exit: String,
    /// `true` if the exit belongs to the route of the node's error handler.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    rescue: bool,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "also_null")]
    packet: Option<Box<RawValue>>,
}

/// The last failure of a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredFailure {
    pub(crate) error: String,
    pub(crate) attempt: u32,
    #[serde(default)]
    pub(crate) panicked: bool,
    /// `true` if the task failed only because an answer could not be read, and waits for another one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) waits_again: bool,
    /// `true` if the node's error handler handles it, and the node does not run again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    handling: bool,
    /// The progress of a task that is tried again; `None` if the failure ended the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry: Option<StoredRetry>,
}

/// The progress of a task that is tried again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredRetry {
    /// The number of failures that its retry policy has counted.
    failures: u32,
    /// The time of the next attempt, in milliseconds since 1970.
    at: u64,
    /// The length of the whole wait, in milliseconds.
    wait: u64,
}

impl StoredRetry {
    fn due(&self) -> Option<Due> {
        let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(self.at))?;
        Some(Due { at, wait: Duration::from_millis(self.wait) })
    }
}

impl StoredFailure {
    /// Creates the failure of a task whose writes were refused.
    pub(super) fn refused(error: String, attempt: u32) -> Self {
        Self { error, attempt, panicked: false, waits_again: false, handling: false, retry: None }
    }

    /// Creates the failure of a task that ends its run.
    pub(super) fn of(failure: &NodeFailure) -> Self {
        Self {
            error: failure.text(),
            attempt: failure.attempt,
            panicked: failure.panicked,
            waits_again: waits_again(failure),
            handling: false,
            retry: None,
        }
    }

    /// Creates the failure of a task that is tried again.
    pub(super) fn tried(tried: &Tried<'_>) -> Self {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let retry = tried.tries.due.map(|due| StoredRetry {
            failures: tried.tries.failures,
            at: millis(due.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()),
            wait: millis(due.wait),
        });
        Self { retry, handling: tried.tries.handling.is_some(), ..Self::of(tried.failure) }
    }

    /// Returns the stored progress of the task.
    pub(super) fn tries(&self, node: &str, step: u64, index: usize, task: Option<&Task>) -> Tries {
        let handling = self.handling.then(|| {
            let failure = NodeFailure::stored(node, step, self.attempt, self.error.clone(), self.panicked);
            Arc::new(match task {
                Some(task) => failure.of(index, task),
                None => failure,
            })
        });
        Tries {
            attempt: self.attempt,
            failures: self.retry.as_ref().map_or(0, |retry| retry.failures),
            due: self.retry.as_ref().and_then(StoredRetry::due),
            handling,
        }
    }

    /// Returns the time of the next attempt, if the task waits for one.
    pub(crate) fn retry_at(&self) -> Option<SystemTime> {
        self.retry.as_ref().and_then(StoredRetry::due).map(|due| due.at)
    }

    /// Returns `true` if the failure ended its task, and thereby the run.
    pub(crate) fn is_final(&self) -> bool {
        self.retry.is_none() && !self.handling
    }
}

/// Returns the key of a record.
pub(super) fn key(task: u32, kind: RecordKind, key: &str) -> RecordKey {
    RecordKey::new(task, kind, key)
}

/// Returns a task's index as records store it.
pub(super) fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(RecordKey::NO_TASK - 1)
}

/// Creates a record with JSON.
pub(super) fn json_record(key: RecordKey, value: &impl Serialize) -> Result<TaskRecord, EncodeError> {
    Ok(TaskRecord::new(key, json_payload(value)?))
}

/// Encodes values of programs with data of the engine around them.
///
/// The values were checked when they were encoded. Together they may still be too large.
pub(super) fn json_payload(value: &impl Serialize) -> Result<Payload, EncodeError> {
    let json = serde_json::to_string(value).map_err(EncodeError::of_plan)?;
    if json.len() > MAX_PAYLOAD_BYTES {
        return Err(EncodeError::of_plan(format_args!(
            "it has {} bytes, but at most {MAX_PAYLOAD_BYTES} can be stored: send fewer or smaller packets at once",
            json.len()
        )));
    }
    Ok(Payload::json(json))
}

/// Returns the key of a write: its position among its task's writes, its form and its field.
pub(super) fn write_key(ordinal: usize, form: Form, field: &str) -> String {
    let form = match form {
        Form::Delta => 'd',
        Form::Overwrite => 'v',
        // Never stored: encoded writes are prepared. The key could not be read back.
        Form::Update => 'u',
    };
    format!("{ordinal:04}{form}:{field}")
}

/// Returns the records of encoded writes.
pub(super) fn write_records(
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

/// Parses the form and the field from the key of a write.
pub(super) fn parse_write_key(key: &str) -> Option<(Form, &str)> {
    let (head, field) = key.split_once(':')?;
    let form = match head.chars().last()? {
        'd' => Form::Delta,
        'v' => Form::Overwrite,
        _ => return None,
    };
    Some((form, field))
}

/// Returns the records of a finished task.
pub(super) fn finished_records(
    graph: &Compiled,
    index: usize,
    task: &Task,
    finished: &Finished,
) -> Result<Vec<TaskRecord>, EncodeError> {
    let place = place(index);
    let mut records = match &finished.encoded {
        Some(encoded) => write_records(graph.state, place, RecordKind::Write, encoded),
        None => Vec::new(),
    };
    let exits = match &finished.leave {
        Leave::ByEdges => None,
        Leave::ErasedParentCommand(outward) => return said_records(place, outward),
        Leave::By(choice) => Some(vec![stored_choice(graph, task, choice)?]),
        Leave::ByAll(choices) => {
            Some(choices.iter().map(|choice| stored_choice(graph, task, choice)).collect::<Result<_, _>>()?)
        }
    };
    let finish = StoredFinish { exits, versions: graph.state.versions(), said: None };
    records.push(json_record(key(place, RecordKind::Finished, ""), &finish)?);
    Ok(records)
}

fn stored_choice(graph: &Compiled, task: &Task, choice: &Choice) -> Result<StoredChoice, EncodeError> {
    let plan = graph.topology.nodes.get(task.node);
    let exit = plan.and_then(|plan| plan.exit(choice.exit)).map_or("", |exit| exit.label).to_owned();
    let rescue = plan.is_some_and(|plan| choice.exit >= plan.exits.len());
    Ok(StoredChoice { exit, rescue, packet: choice.packet.as_ref().map(packet_json).transpose()? })
}

impl StoredFinish {
    /// Creates the end of a task with a command to the parent graph.
    pub(super) fn of_said(said: StoredSaid, versions: Vec<(String, u32)>) -> Self {
        Self { versions, said: Some(said), ..Self::default() }
    }

    /// Returns the way in which the task left its node.
    pub(super) fn leave(&self, graph: &Compiled, node: usize) -> Result<Leave, MigrationError> {
        let name = graph.node_name(node);
        let gone = |reason| MigrationError::Route { node: name.to_owned(), reason };
        let plan = graph.topology.nodes.get(node);
        let exits = plan.map(|plan| plan.exits.as_slice()).unwrap_or_default();
        let handler_exits = plan.map(|plan| plan.handler_exits.as_slice()).unwrap_or_default();
        let asked = graph.nodes.get(node).is_some_and(|node| node.decide.is_some());
        let Some(taken) = &self.exits else {
            return if exits.is_empty() || asked {
                Ok(Leave::ByEdges)
            } else {
                Err(gone("the node had none when the task finished, and has one now".to_owned()))
            };
        };
        let choices = taken.iter().map(|choice| {
            let (from, among) = if choice.rescue { (exits.len(), handler_exits) } else { (0, exits) };
            let found = among.iter().zip(from..).find(|(exit, _)| exit.label == choice.exit);
            let (exit, index) =
                found.ok_or_else(|| gone(format!("it no longer has an exit `{}`", choice.exit)))?;
            let unreadable = |reason| {
                let of = format!("exit `{}` of node `{name}`", choice.exit);
                MigrationError::Packet { of, reason }
            };
            let packet = match (&choice.packet, exit.packet.and_then(|packet| packet.read())) {
                (None, _) => None,
                (Some(_), None) => {
                    return Err(unreadable("the exit no longer takes one".to_owned()));
                }
                (Some(json), Some(read)) => {
                    Some(read(json.get().as_bytes()).map_err(|error| unreadable(error.to_string()))?)
                }
            };
            Ok(Choice { exit: index, packet })
        });
        let mut choices: Vec<Choice> = choices.collect::<Result<_, MigrationError>>()?;
        match (choices.len(), choices.pop()) {
            (1, Some(choice)) => Ok(Leave::By(choice)),
            (_, last) => {
                choices.extend(last);
                Ok(Leave::ByAll(choices))
            }
        }
    }
}

/// Writes that were read back, with their stored form.
pub(super) type ReadWrites = (TaskWrites, Encoded);

/// Reads writes back. Skips fields that the state no longer has.
pub(super) fn decode_writes<'r>(
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
