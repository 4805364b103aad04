use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::checkpoint::{RecordKey, RecordKind, TaskRecord};
use crate::engine::also_null::also_null;
use crate::engine::encoded::{Builder, Encoded};
use crate::engine::policy::{Due, Tried, Tries};
use crate::engine::task::{Finished, WriteOf};
use crate::error::NodeFailure;
use crate::graph::Compiled;
use crate::node::{Choice, Leave};
use crate::payload::Payload;
use crate::plan::Task;
use crate::state::{Decoded, EncodeError, FieldWrite, Form, GraphState, Writes};

use super::program::versions;
use super::progress::packet_json;
use super::said::{StoredSaid, said_records};

/// How a task has finished, without its writes.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StoredFinish {
    /// The exits of its route that it took; nothing when it left by edges, or its route function was not asked yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exits: Option<Vec<StoredChoice>>,
    /// The versions of the state that its writes are of, where they are not 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) versions: Vec<(String, u32)>,
    /// What it has said to the graph around its own; the writes are of that one's state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) said: Option<StoredSaid>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredChoice {
    exit: String,
    /// It is one of the route of the node's error handler.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    rescue: bool,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "also_null")]
    packet: Option<Box<RawValue>>,
}

/// How a task failed last.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredFailure {
    pub(crate) error: String,
    pub(crate) attempt: u32,
    #[serde(default)]
    pub(crate) panicked: bool,
    /// That its error handler is asked about it, and not the node.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    handling: bool,
    /// That it is tried again; nothing where the run has failed with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry: Option<StoredRetry>,
}

/// How far a task has come that is tried again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StoredRetry {
    /// The failures that its policy has counted.
    failures: u32,
    /// When it is due, in milliseconds since 1970.
    at: u64,
    /// How long the whole wait is, in milliseconds.
    wait: u64,
}

impl StoredRetry {
    fn due(&self) -> Option<Due> {
        let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(self.at))?;
        Some(Due { at, wait: Duration::from_millis(self.wait) })
    }
}

impl StoredFailure {
    /// What a task has written was refused.
    pub(super) fn refused(error: String, attempt: u32) -> Self {
        Self { error, attempt, panicked: false, handling: false, retry: None }
    }

    /// How a task has failed, as the end of its run.
    pub(super) fn of(failure: &NodeFailure) -> Self {
        Self {
            error: failure.text(),
            attempt: failure.attempt,
            panicked: failure.panicked,
            handling: false,
            retry: None,
        }
    }

    /// How a task has failed that is tried again.
    pub(super) fn tried(tried: &Tried<'_>) -> Self {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let retry = tried.tries.due.map(|due| StoredRetry {
            failures: tried.tries.failures,
            at: millis(due.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()),
            wait: millis(due.wait),
        });
        Self { retry, handling: tried.tries.handling.is_some(), ..Self::of(tried.failure) }
    }

    /// How far the task has come.
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

    /// When the task is tried again, if it waits for that.
    pub(crate) fn retry_at(&self) -> Option<SystemTime> {
        self.retry.as_ref().and_then(StoredRetry::due).map(|due| due.at)
    }

    /// Whether the task has failed with it, so that its run has.
    pub(crate) fn is_final(&self) -> bool {
        self.retry.is_none() && !self.handling
    }
}

/// The key of a record.
pub(super) fn key(task: u32, kind: RecordKind, key: &str) -> RecordKey {
    RecordKey { task, kind, key: Arc::from(key) }
}

/// A task's place as records count it.
pub(super) fn place(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(RecordKey::NO_TASK - 1)
}

/// A record of JSON.
pub(super) fn json_record(key: RecordKey, value: &impl Serialize) -> Result<TaskRecord, EncodeError> {
    Ok(TaskRecord {
        key,
        payload: Payload::json(serde_json::to_string(value).map_err(EncodeError::of_plan)?),
    })
}

/// The key of a write: its place among its task's, its form, its field.
pub(super) fn write_key(ordinal: usize, form: Form, field: &str) -> String {
    let form = match form {
        Form::Delta => 'd',
        Form::Overwrite => 'v',
        // Of nothing that is stored: encoded writes are prepared, and it would not be read.
        Form::Update => 'u',
    };
    format!("{ordinal:04}{form}:{field}")
}

/// The records of encoded writes.
pub(super) fn write_records<S: GraphState>(
    task: u32,
    kind: RecordKind,
    encoded: &Encoded,
) -> Vec<TaskRecord> {
    let writes = encoded.writes.iter().enumerate();
    let records = writes.filter_map(|(ordinal, write)| {
        let name = S::field(write.field)?.name;
        let payload = encoded.payload(write)?;
        Some(TaskRecord { key: key(task, kind, &write_key(ordinal, write.form, name)), payload })
    });
    records.collect()
}

/// A write's field and form, from the key of its record.
pub(super) fn parse_write_key(key: &str) -> Option<(Form, &str)> {
    let (head, field) = key.split_once(':')?;
    let form = match head.chars().last()? {
        'd' => Form::Delta,
        'v' => Form::Overwrite,
        _ => return None,
    };
    Some((form, field))
}

/// The records of a finished task.
pub(super) fn finished_records<S: GraphState, D>(
    graph: &Compiled<S, D>,
    index: usize,
    task: &Task,
    finished: &Finished<S>,
) -> Result<Vec<TaskRecord>, EncodeError> {
    let place = place(index);
    let mut records = match &finished.encoded {
        Some(encoded) => write_records::<S>(place, RecordKind::Write, encoded),
        None => Vec::new(),
    };
    let exits = match &finished.leave {
        Leave::ByEdges => None,
        Leave::Outward(outward) => return said_records(place, outward),
        Leave::By(choice) => Some(vec![stored_choice(graph, task, choice)?]),
        Leave::ByAll(choices) => {
            Some(choices.iter().map(|choice| stored_choice(graph, task, choice)).collect::<Result<_, _>>()?)
        }
    };
    let finish = StoredFinish { exits, versions: versions::<S>(), said: None };
    records.push(json_record(key(place, RecordKind::Finished, ""), &finish)?);
    Ok(records)
}

fn stored_choice<S, D>(
    graph: &Compiled<S, D>,
    task: &Task,
    choice: &Choice,
) -> Result<StoredChoice, EncodeError> {
    let plan = graph.topology.nodes.get(task.node);
    let exit = plan.and_then(|plan| plan.exit(choice.exit)).map_or("", |exit| exit.label).to_owned();
    let rescue = plan.is_some_and(|plan| choice.exit >= plan.exits.len());
    Ok(StoredChoice { exit, rescue, packet: choice.packet.as_ref().map(packet_json).transpose()? })
}

impl StoredFinish {
    /// What a task has said to the graph around its own, on a state of these versions.
    pub(super) fn of_said(said: StoredSaid, versions: Vec<(String, u32)>) -> Self {
        Self { versions, said: Some(said), ..Self::default() }
    }

    /// How the task left its node.
    pub(super) fn leave<S, D>(&self, graph: &Compiled<S, D>, node: usize) -> Result<Leave, String> {
        let name = graph.node_name(node);
        let plan = graph.topology.nodes.get(node);
        let exits = plan.map(|plan| plan.exits.as_slice()).unwrap_or_default();
        let rescues = plan.map(|plan| plan.rescues.as_slice()).unwrap_or_default();
        let asked = graph.nodes.get(node).is_some_and(|node| node.decide.is_some());
        let Some(taken) = &self.exits else {
            return if exits.is_empty() || asked {
                Ok(Leave::ByEdges)
            } else {
                Err(format!("node `{name}` left by an edge, and has a route now"))
            };
        };
        let choices = taken.iter().map(|choice| {
            let (from, among) = if choice.rescue { (exits.len(), rescues) } else { (0, exits) };
            let found = among.iter().zip(from..).find(|(exit, _)| exit.label == choice.exit);
            let (exit, index) = found.ok_or_else(|| {
                format!("the route of node `{name}` has no exit `{}` any more", choice.exit)
            })?;
            let packet = match (&choice.packet, exit.packet.and_then(|packet| packet.read())) {
                (None, _) => None,
                (Some(_), None) => {
                    return Err(format!(
                        "the exit `{}` of node `{name}` carries nothing any more",
                        choice.exit
                    ));
                }
                (Some(json), Some(read)) => Some(read(json.get().as_bytes()).map_err(|error| {
                    format!("the packet of exit `{}` of node `{name}`: {error}", choice.exit)
                })?),
            };
            Ok(Choice { exit: index, packet })
        });
        let mut choices: Vec<Choice> = choices.collect::<Result<_, String>>()?;
        match (choices.len(), choices.pop()) {
            (1, Some(choice)) => Ok(Leave::By(choice)),
            (_, last) => {
                choices.extend(last);
                Ok(Leave::ByAll(choices))
            }
        }
    }
}

/// Writes that were read back, and as they are stored.
pub(super) type ReadWrites<S> = (Writes<WriteOf<S>>, Encoded);

/// Reads writes back. A field that the state has no more is left out.
pub(super) fn decode_writes<'r, S: GraphState>(
    records: impl Iterator<Item = (&'r str, &'r Payload)>,
) -> Result<ReadWrites<S>, (String, String)> {
    let (mut writes, mut encoded) = (Vec::new(), Builder::default());
    for (key, payload) in records {
        let Some((form, field)) = parse_write_key(key) else {
            return Err((format!("the write `{key}`"), "its key is none of this version".to_owned()));
        };
        match WriteOf::<S>::__decode(field, form, payload) {
            Decoded::Write(write) => {
                encoded.add(write.field(), form, payload);
                writes.push(write);
            }
            Decoded::Unknown => {}
            Decoded::Invalid(error) => {
                return Err((format!("the write to field `{field}`"), error.to_string()));
            }
        }
    }
    Ok((writes.into_iter().collect(), encoded.finish()))
}
