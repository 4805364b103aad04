use std::collections::HashMap;
use std::sync::Arc;

use crate::checkpoint::{
    Checkpoint, Corrupt, Payload, PieceKind, RecordKey, RecordKind, StoreError, StoredCheckpoint,
    StoredField, StoredPiece, TaskRecord,
};
use crate::engine::ephemeral::Ephemerals;
use crate::engine::task::Finished;
use crate::error::ErrorKind;
use crate::graph::Compiled;
use crate::interrupt::OpenQuestion;
use crate::node::Leave;
use crate::plan::{Progress, Task};
use crate::state::{Form, GraphState, Restore, Stored};

use super::pieces::Pieces;
use super::program::{Program, versions};
use super::progress::{self, Unplanned, node_of};
use super::records::{ReadWrites, StoredFailure, StoredFinish, decode_writes, parse_write_key};
use super::sizes::Size;

/// A checkpoint as this program understands it: everything that is needed to go on from it.
pub(crate) struct Opened<S: GraphState> {
    pub(crate) checkpoint: Checkpoint,
    /// The state at the checkpoint; where an input waits to be applied, the state that it is applied to.
    pub(crate) state: S,
    pub(super) pieces: Pieces,
    pub(crate) tasks: Vec<Task>,
    pub(crate) progress: Progress,
    pub(crate) ephemerals: Ephemerals,
    /// By task, what is known of it.
    pub(crate) known: Vec<Known<S>>,
    /// The input that waits to be applied.
    pub(crate) input: Option<Finished<S>>,
    /// The fields that a waiting input has given past their reducers.
    pub(crate) given: Vec<usize>,
    /// Updates that came with resumptions, in order.
    pub(crate) patches: Vec<Finished<S>>,
    /// Whether nothing is stored of the state yet.
    pub(crate) fresh: bool,
    /// The breakpoints that the thread has stopped at here.
    pub(crate) gate: Option<Gate>,
    /// The records as they are stored.
    pub(crate) records: Vec<TaskRecord>,
}

impl<S: GraphState> Opened<S> {
    /// Whether nothing is left to run, and no join waits.
    pub(crate) fn is_at_rest<D>(&self, graph: &Compiled<S, D>) -> bool {
        let waits = self.progress.unfilled(&graph.topology).next().is_some();
        self.tasks.is_empty() && self.input.is_none() && !waits
    }

    /// The superstep that it follows.
    pub(crate) fn step(&self) -> u64 {
        u64::try_from(self.checkpoint.step).unwrap_or_default()
    }
}

/// What is known of a planned task.
pub(crate) struct Known<S: GraphState> {
    pub(crate) result: Option<Finished<S>>,
    pub(crate) failure: Option<StoredFailure>,
    /// The questions that it waits for, by id.
    pub(crate) questions: Vec<(String, StoredQuestion)>,
    /// The questions that were answered, by id, with their answers.
    pub(crate) answers: Vec<(String, StoredQuestion, serde_json::Value)>,
    /// What its durable steps came to, by key.
    pub(crate) steps: Vec<(String, Payload)>,
}

/// Tasks by the names of their nodes, with what is known of them.
pub(crate) type NamedTasks<S> = Vec<(Arc<str>, Known<S>)>;

impl<S: GraphState> Default for Known<S> {
    fn default() -> Self {
        Self { result: None, failure: None, questions: Vec::new(), answers: Vec::new(), steps: Vec::new() }
    }
}

/// The name of START where names of nodes are stored.
pub(crate) const START: &str = "START";

/// Says of something in a checkpoint that it cannot be read.
pub(crate) fn corrupt(
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    what: impl Into<String>,
    reason: impl Into<String>,
) -> ErrorKind {
    let corrupt = Corrupt {
        thread: Arc::clone(thread),
        namespace: Arc::from(""),
        checkpoint: Some(checkpoint.id),
        what: what.into(),
        reason: reason.into(),
    };
    ErrorKind::Store(Arc::new(StoreError::Corrupt(Box::new(corrupt))))
}

/// Reads a checkpoint's state, to go on from it with something else than what it has planned.
pub(crate) fn open_state<S: GraphState, D>(
    graph: &Compiled<S, D>,
    thread: &Arc<str>,
    stored: StoredCheckpoint,
) -> Result<Opened<S>, ErrorKind> {
    let mut stored = stored;
    let waits = stored.checkpoint.next.iter().any(|next| &**next == START);
    stored.checkpoint.next.retain(|next| &**next == START);
    // An input that waits and has come first holds the state that there is.
    stored.records.retain(|_| waits && stored.fields.is_empty());
    if let Some(progress) = &stored.checkpoint.progress {
        stored.checkpoint.progress = progress::without_tasks(progress);
    }
    open(graph, thread, stored)
}

/// What is known of the tasks of a checkpoint, for showing: a node that is gone is shown by its name.
pub(crate) fn read_tasks<S: GraphState, D>(
    graph: &Compiled<S, D>,
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    records: &[TaskRecord],
) -> Result<NamedTasks<S>, ErrorKind> {
    let reader = Reader { graph, thread, checkpoint, records };
    let named = checkpoint.next.iter().enumerate();
    let tasks = named.map(|(index, name)| {
        let node = graph.find(name);
        let task = node.map(|node| Task { node, packet: None });
        let known = task.map(|task| reader.known(index, &task)).transpose()?;
        Ok((Arc::clone(name), known.unwrap_or_default()))
    });
    tasks.collect()
}

/// Reads a checkpoint into the state and the plan of this program.
pub(crate) fn open<S: GraphState, D>(
    graph: &Compiled<S, D>,
    thread: &Arc<str>,
    stored: StoredCheckpoint,
) -> Result<Opened<S>, ErrorKind> {
    let StoredCheckpoint { checkpoint, fields, records } = stored;
    let is_input = checkpoint.next.iter().any(|next| &**next == START);
    let (mut fields, mut given_fields) = (fields, Vec::new());
    let fresh = is_input && fields.is_empty();
    if fresh {
        (fields, given_fields) = given(&checkpoint, &records);
    }
    let read = read_state::<S>(thread, &checkpoint, fields)?;
    let progress = progress::parse(checkpoint.progress.as_ref())
        .map_err(|unplanned| unplanned_kind(thread, &checkpoint, unplanned))?;
    let next: &[Arc<str>] = if is_input { &[] } else { &checkpoint.next };
    let (mut tasks, planned) = progress
        .resume::<S, D>(graph, next)
        .map_err(|unplanned| unplanned_kind(thread, &checkpoint, unplanned))?;
    let reader = Reader { graph, thread, checkpoint: &checkpoint, records: &records };
    for record in reader.of(RecordKey::NO_TASK, RecordKind::Goto) {
        let name = String::from_utf8_lossy(record.payload.bytes()).into_owned();
        let node = node_of(graph, &name)
            .map_err(|gone| unplanned_kind(thread, &checkpoint, Unplanned::Gone(gone)))?;
        tasks.push(Task { node, packet: None });
    }
    let known =
        tasks.iter().enumerate().map(|(index, task)| reader.known(index, task)).collect::<Result<_, _>>()?;
    let mut input = None;
    if is_input {
        let writes =
            reader.of(0, RecordKind::Write).filter(|record| !given_fields.is_empty() || is_delta(record));
        let (writes, encoded) = reader.writes(writes, None)?;
        input = Some(Finished { writes, leave: Leave::ByEdges, encoded: Some(Box::new(encoded)) });
    }
    let gate = read_gate(&records);
    let patches = reader.patches()?;
    let names =
        |name: &String| (0..S::FIELD_COUNT).find(|&i| S::field(i).is_some_and(|spec| spec.name == name));
    Ok(Opened {
        state: read.state,
        pieces: read.pieces,
        tasks,
        progress: planned,
        ephemerals: progress.ephemerals::<S, D>(graph),
        known,
        input,
        given: given_fields.iter().filter_map(names).collect(),
        patches,
        fresh,
        gate,
        checkpoint,
        records,
    })
}

fn is_delta(record: &&TaskRecord) -> bool {
    parse_write_key(&record.key.key).is_none_or(|(form, _)| form == Form::Delta)
}

/// What the first input of a thread has given past the reducers, as fields: nothing else is stored of the state yet.
fn given(checkpoint: &Checkpoint, records: &[TaskRecord]) -> (Vec<StoredField>, Vec<String>) {
    let writes = records.iter().filter(|record| record.key.task == 0 && record.key.kind == RecordKind::Write);
    let (mut fields, mut names) = (Vec::new(), Vec::new());
    for record in writes {
        let Some((Form::Overwrite, field)) = parse_write_key(&record.key.key) else { continue };
        names.push(field.to_owned());
        let piece = StoredPiece {
            checkpoint: checkpoint.id,
            kind: PieceKind::Value,
            payload: record.payload.clone(),
        };
        fields.push(StoredField { field: field.to_owned(), pieces: vec![piece] });
    }
    (fields, names)
}

/// A state that was read, and how much of it is stored.
pub(crate) struct ReadState<S> {
    pub(crate) state: S,
    pub(super) pieces: Pieces,
}

/// Reads the state of a checkpoint, bringing it to this program's version first.
pub(crate) fn read_state<S: GraphState>(
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    fields: Vec<StoredField>,
) -> Result<ReadState<S>, ErrorKind> {
    let sizes: HashMap<String, usize> = fields
        .iter()
        .map(|field| (field.field.clone(), field.pieces.iter().map(|piece| piece.payload.len()).sum()))
        .collect();
    let (fields, migrated) = migrate::<S>(
        thread,
        checkpoint,
        &Program::parse(&checkpoint.run.program).versions,
        Stored::__of_state(fields),
    )?;
    let mut restore = Restore::new(fields);
    let state = S::__restore(&mut restore).map_err(|error| {
        let what = format!("field `{}`", error.field());
        let reason = crate::error::with_causes(&error);
        corrupt(thread, checkpoint, what, reason)
    })?;
    let size = |index: usize| {
        let bytes = S::field(index).and_then(|spec| sizes.get(spec.name)).copied();
        Size::read(bytes.unwrap_or_default())
    };
    let unstored = if migrated { (0..S::FIELD_COUNT).collect() } else { restore.defaulted().to_vec() };
    Ok(ReadState { state, pieces: Pieces::new((0..S::FIELD_COUNT).map(size).collect(), unstored) })
}

/// Brings stored fields to this program's version; `true` if they were of another.
fn migrate<S: GraphState>(
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    found: &[(String, u32)],
    mut stored: Stored,
) -> Result<(Vec<StoredField>, bool), ErrorKind> {
    if found == versions::<S>() {
        return Ok((stored.__into_fields(), false));
    }
    S::__migrate(found, &mut stored).map_err(|error| ErrorKind::Migration {
        thread: thread.to_string(),
        checkpoint: checkpoint.id,
        source: error,
    })?;
    Ok((stored.__into_fields(), true))
}

pub(super) fn unplanned_kind(thread: &Arc<str>, checkpoint: &Checkpoint, unplanned: Unplanned) -> ErrorKind {
    match unplanned {
        Unplanned::Gone(gone) => {
            ErrorKind::NodeGone { node: gone.0, thread: thread.to_string(), checkpoint: checkpoint.id }
        }
        Unplanned::Unreadable(reason) => corrupt(thread, checkpoint, "what is planned", reason),
    }
}

/// Reads the records of a checkpoint.
struct Reader<'r, S, D> {
    graph: &'r Compiled<S, D>,
    thread: &'r Arc<str>,
    checkpoint: &'r Checkpoint,
    records: &'r [TaskRecord],
}

impl<'r, S: GraphState, D> Reader<'r, S, D> {
    fn of(&self, task: u32, kind: RecordKind) -> impl Iterator<Item = &'r TaskRecord> + use<'r, S, D> {
        let records = self.records;
        records.iter().filter(move |record| record.key.task == task && record.key.kind == kind)
    }

    fn json<T: serde::de::DeserializeOwned>(&self, record: &TaskRecord) -> Result<T, ErrorKind> {
        serde_json::from_slice(record.payload.bytes())
            .map_err(|error| self.corrupt(record, error.to_string()))
    }

    fn corrupt(&self, record: &TaskRecord, reason: String) -> ErrorKind {
        let RecordKey { task, kind, .. } = &record.key;
        corrupt(self.thread, self.checkpoint, format!("the {kind:?} record of task {task}"), reason)
    }

    /// What is known of a task.
    fn known(&self, index: usize, task: &Task) -> Result<Known<S>, ErrorKind> {
        let place = super::records::place(index);
        let mut known = Known { failure: None, ..Known::default() };
        if let Some(record) = self.of(place, RecordKind::Failed).next() {
            known.failure = Some(self.json(record)?);
        }
        if let Some(record) = self.of(place, RecordKind::Finished).next() {
            let finish: StoredFinish = self.json(record)?;
            let leave = finish.leave(self.graph, task.node).map_err(|reason| self.corrupt(record, reason))?;
            let writes = self.of(place, RecordKind::Write);
            let (writes, encoded) = self.writes(writes, Some(&finish.versions))?;
            known.result = Some(Finished { writes, leave, encoded: Some(Box::new(encoded)) });
            return Ok(known);
        }
        for record in self.of(place, RecordKind::Interrupt) {
            let (id, question) = (record.key.key.to_string(), self.json(record)?);
            match self.of(place, RecordKind::Answer).find(|answer| answer.key.key == record.key.key) {
                None => known.questions.push((id, question)),
                Some(answer) => known.answers.push((id, question, self.json(answer)?)),
            }
        }
        let steps = self.of(place, RecordKind::Step);
        known.steps = steps.map(|record| (record.key.key.to_string(), record.payload.clone())).collect();
        Ok(known)
    }

    /// Writes as they were prepared, brought to this program's version.
    fn writes(
        &self,
        records: impl Iterator<Item = &'r TaskRecord>,
        found: Option<&[(String, u32)]>,
    ) -> Result<ReadWrites<S>, ErrorKind> {
        let records: Vec<(&str, &Payload)> =
            records.map(|record| (&*record.key.key, &record.payload)).collect();
        let of_run;
        let found = match found {
            Some(found) => found,
            None => {
                of_run = Program::parse(&self.checkpoint.run.program).versions;
                &of_run
            }
        };
        let unreadable = |(what, reason)| corrupt(self.thread, self.checkpoint, what, reason);
        if found == versions::<S>() {
            return decode_writes::<S>(records.into_iter()).map_err(unreadable);
        }
        // One write after the other: their order is kept, and a migration sees each as a field of its own.
        let mut migrated: Vec<(String, Payload)> = Vec::new();
        for (ordinal, (key, payload)) in records.into_iter().enumerate() {
            let Some((form, field)) = parse_write_key(key) else { continue };
            let kind = match form {
                Form::Delta => PieceKind::Delta,
                Form::Overwrite => PieceKind::Value,
            };
            let piece = StoredPiece { checkpoint: self.checkpoint.id, kind, payload: payload.clone() };
            let fields = vec![StoredField { field: field.to_owned(), pieces: vec![piece] }];
            let stored = Stored::__of_writes(fields);
            let (fields, _) = migrate::<S>(self.thread, self.checkpoint, found, stored)?;
            for field in fields {
                for piece in field.pieces {
                    let form = if piece.kind == PieceKind::Delta { 'd' } else { 'v' };
                    migrated.push((format!("{ordinal:04}{form}:{}", field.field), piece.payload));
                }
            }
        }
        let records = migrated.iter().map(|(key, payload)| (key.as_str(), payload));
        decode_writes::<S>(records).map_err(unreadable)
    }

    /// The updates that came with resumptions, one after the other: each begins with what its versions are.
    fn patches(&self) -> Result<Vec<Finished<S>>, ErrorKind> {
        let mut records: Vec<&TaskRecord> = self.of(RecordKey::NO_TASK, RecordKind::Patch).collect();
        records.sort_by(|one, other| one.key.key.cmp(&other.key.key));
        let mut patches = Vec::new();
        for patch in records.chunk_by(|_, next| parse_write_key(&next.key.key).is_some()) {
            let [of, writes @ ..] = patch else { continue };
            let found: Vec<(String, u32)> = self.json(of)?;
            let (writes, encoded) = self.writes(writes.iter().copied(), Some(&found))?;
            patches.push(Finished { writes, leave: Leave::ByEdges, encoded: Some(Box::new(encoded)) });
        }
        Ok(patches)
    }
}

/// The breakpoints that a thread has stopped at.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Gate {
    pub(crate) before: Vec<String>,
    pub(crate) after: Vec<String>,
}

/// The breakpoints among the records of a checkpoint.
pub(crate) fn read_gate(records: &[TaskRecord]) -> Option<Gate> {
    let gate = records.iter().find(|record| record.key.kind == RecordKind::Gate)?;
    Some(serde_json::from_slice(gate.payload.bytes()).unwrap_or_default())
}

impl StoredQuestion {
    pub(super) fn of(open: &OpenQuestion) -> Self {
        let OpenQuestion { name, key, question, .. } = open.clone();
        Self { name, key, question }
    }

    /// The question as it is shown.
    pub(crate) fn open(self, id: String, node: &str, task: usize) -> OpenQuestion {
        let Self { name, key, question } = self;
        OpenQuestion { id, node: node.to_owned(), task, name, key, question }
    }
}

/// A question as its record holds it; the record's key is its id.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct StoredQuestion {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    pub(crate) question: serde_json::Value,
}

/// The packet of a planned task, for showing.
pub(crate) fn shown_packet(checkpoint: &Checkpoint, index: usize) -> Option<serde_json::Value> {
    progress::parse(checkpoint.progress.as_ref()).ok()?.packet(index)
}
