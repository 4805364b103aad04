//! The parameters of the function `commit`.

use superstep_store::checkpoint::WriteBatch;
use tokio_postgres::types::Type;

use crate::columns::{Id, NO_TIME, Param, millis, status_columns};
use crate::tags::tags;

use super::plan::{Plan, Section};

/// The lists of several batches, one after another. The function `commit` describes them.
#[derive(Default)]
pub(super) struct Lists<'b> {
    threads: Vec<&'b [u8]>,
    namespaces: Vec<&'b [u8]>,
    origins: Vec<&'b [u8]>,
    fence_epochs: Vec<i64>,
    fence_heads: Vec<Option<Id>>,
    epochs: Vec<i64>,
    statuses: Vec<Option<i16>>,
    wakes: Vec<Option<i64>>,
    changed: Vec<i64>,
    tokens: Vec<i64>,
    invalid: Vec<bool>,
    needed_ends: Vec<i32>,
    run_ends: Vec<i32>,
    section_ends: Vec<i32>,
    needed: Vec<Id>,
    run_ids: Vec<Option<i64>>,
    run_names: Vec<Option<&'b [u8]>>,
    programs: Vec<Option<&'b [u8]>>,
    metadata: Vec<Option<Vec<u8>>>,
    tag_ends: Vec<i32>,
    tags: Vec<i64>,
    rolls: Vec<bool>,
    rolled_namespaces: Vec<Option<&'b [u8]>>,
    targets: Vec<Option<Id>>,
    checkpoint_ends: Vec<i32>,
    change_ends: Vec<i32>,
    record_ends: Vec<i32>,
    ids: Vec<Id>,
    parents: Vec<Option<Id>>,
    steps: Vec<i64>,
    sources: Vec<&'static str>,
    runs: Vec<i32>,
    created: Vec<i64>,
    next: Vec<Vec<u8>>,
    progress_encodings: Vec<Option<i16>>,
    progress: Vec<Option<&'b [u8]>>,
    fields: Vec<&'b [u8]>,
    firsts: Vec<Id>,
    entries: Vec<&'b [u8]>,
    data: Vec<&'b [u8]>,
    record_checkpoints: Vec<Id>,
    tasks: Vec<i64>,
    kinds: Vec<i16>,
    keys: Vec<&'b [u8]>,
    record_encodings: Vec<Option<i16>>,
    payloads: Vec<Option<&'b [u8]>>,
}

fn end<T>(list: &[T]) -> i32 {
    i32::try_from(list.len()).unwrap_or(i32::MAX)
}

impl<'b> Lists<'b> {
    /// Adds a batch. `run_ids` has the rows of its runs, as far as they are known to exist.
    pub(super) fn add(
        &mut self,
        batch: &'b WriteBatch,
        plan: &'b Plan<'b>,
        token: i64,
        run_ids: &[Option<i64>],
    ) {
        let status = batch.status.map(status_columns);
        self.threads.push(batch.thread.as_bytes());
        self.namespaces.push(batch.namespace.as_bytes());
        self.origins.push(batch.origin.as_bytes());
        self.fence_epochs.push(batch.fence.epoch.cast_signed());
        self.fence_heads.push(batch.fence.head.map(Id));
        self.epochs.push(batch.epoch.cast_signed());
        self.statuses.push(status.map(|(kind, ..)| kind));
        self.wakes.push(status.and_then(|(_, wakes, _)| wakes));
        self.changed.push(status.map_or(NO_TIME, |(.., changed)| changed));
        self.tokens.push(token);
        self.invalid.push(plan.invalid.is_some());
        self.needed.extend(plan.needed.iter().copied().map(Id));
        self.needed_ends.push(end(&self.needed));
        for (nth, run) in plan.runs.iter().enumerate() {
            let known = run_ids.get(nth).copied().flatten();
            self.run_ids.push(known);
            let is_sent = known.is_none();
            self.run_names.push(is_sent.then(|| run.id.as_bytes()));
            self.programs.push(is_sent.then(|| run.program.as_bytes()));
            // Metadata are JSON values, which can always be written.
            self.metadata.push(is_sent.then(|| serde_json::to_vec(&run.metadata).unwrap_or_default()));
            if is_sent {
                self.tags.extend(tags(&run.metadata));
            }
            self.tag_ends.push(end(&self.tags));
        }
        self.run_ends.push(end(&self.run_ids));
        plan.sections.iter().for_each(|section| self.add_section(section));
        self.section_ends.push(end(&self.rolls));
    }

    fn add_section(&mut self, section: &'b Section<'b>) {
        self.rolls.push(section.roll_back.is_some());
        self.rolled_namespaces.push(section.roll_back.map(|(namespace, _)| namespace.as_bytes()));
        self.targets.push(section.roll_back.and_then(|(_, target)| target).map(Id));
        for (checkpoint, run) in &section.checkpoints {
            self.ids.push(Id(checkpoint.id));
            self.parents.push(checkpoint.parent.map(Id));
            self.steps.push(checkpoint.step);
            self.sources.push(checkpoint.source.name());
            self.runs.push(i32::try_from(run + 1).unwrap_or(i32::MAX));
            self.created.push(millis(checkpoint.created_at));
            let next: Vec<&str> = checkpoint.next.iter().map(|node| &**node).collect();
            self.next.push(serde_json::to_vec(&next).unwrap_or_default());
            let progress = checkpoint.progress.as_ref();
            self.progress_encodings.push(progress.map(|progress| i16::from(progress.encoding().code())));
            self.progress.push(progress.map(|progress| progress.bytes()));
        }
        self.checkpoint_ends.push(end(&self.ids));
        for (field, row) in &section.changes {
            // A row whose changes were all replaced by a value is not written.
            let Some(first) = row.first() else { continue };
            self.fields.push(field.as_bytes());
            self.firsts.push(Id(first));
            self.entries.push(row.entries());
            self.data.push(row.data());
        }
        self.change_ends.push(end(&self.fields));
        for (checkpoint, key, payload) in &section.records {
            self.record_checkpoints.push(Id(*checkpoint));
            self.tasks.push(i64::from(key.task));
            self.kinds.push(i16::from(key.kind.code()));
            self.keys.push(key.key.as_bytes());
            self.record_encodings.push(payload.map(|payload| i16::from(payload.encoding().code())));
            self.payloads.push(payload.map(|payload| payload.bytes()));
        }
        self.record_ends.push(end(&self.record_checkpoints));
    }

    /// Returns the parameters in the order of the function, after its first.
    pub(super) fn params(&self) -> [Param<'_>; PARAMS - 1] {
        const BYTES: Type = Type::BYTEA_ARRAY;
        const BIG: Type = Type::INT8_ARRAY;
        const SMALL: Type = Type::INT2_ARRAY;
        const INT: Type = Type::INT4_ARRAY;
        const BOOL: Type = Type::BOOL_ARRAY;
        const UUID: Type = Type::UUID_ARRAY;
        [
            (&self.threads, BYTES),
            (&self.namespaces, BYTES),
            (&self.origins, BYTES),
            (&self.fence_epochs, BIG),
            (&self.fence_heads, UUID),
            (&self.epochs, BIG),
            (&self.statuses, SMALL),
            (&self.wakes, BIG),
            (&self.changed, BIG),
            (&self.tokens, BIG),
            (&self.invalid, BOOL),
            (&self.needed_ends, INT),
            (&self.run_ends, INT),
            (&self.section_ends, INT),
            (&self.needed, UUID),
            (&self.run_ids, BIG),
            (&self.run_names, BYTES),
            (&self.programs, BYTES),
            (&self.metadata, BYTES),
            (&self.tag_ends, INT),
            (&self.tags, BIG),
            (&self.rolls, BOOL),
            (&self.rolled_namespaces, BYTES),
            (&self.targets, UUID),
            (&self.checkpoint_ends, INT),
            (&self.change_ends, INT),
            (&self.record_ends, INT),
            (&self.ids, UUID),
            (&self.parents, UUID),
            (&self.steps, BIG),
            (&self.sources, Type::TEXT_ARRAY),
            (&self.runs, INT),
            (&self.created, BIG),
            (&self.next, BYTES),
            (&self.progress_encodings, SMALL),
            (&self.progress, BYTES),
            (&self.fields, BYTES),
            (&self.firsts, UUID),
            (&self.entries, BYTES),
            (&self.data, BYTES),
            (&self.record_checkpoints, UUID),
            (&self.tasks, BIG),
            (&self.kinds, SMALL),
            (&self.keys, BYTES),
            (&self.record_encodings, SMALL),
            (&self.payloads, BYTES),
        ]
    }
}

/// The number of parameters of the function `commit`.
pub(crate) const PARAMS: usize = 47;

/// The approximate size of a batch in the message to the server.
pub(super) fn size(batch: &WriteBatch) -> usize {
    use superstep_store::checkpoint::BatchWrite;
    let records = |put: &[superstep_store::checkpoint::TaskRecord]| -> usize {
        put.iter().map(|record| record.payload.len() + record.key.key.len()).sum()
    };
    let write = |write: &BatchWrite| match write {
        BatchWrite::Checkpoint(new) => {
            let changes: usize = new.changes.iter().map(|change| change.payload.len()).sum();
            changes
                + new.checkpoint.progress.as_ref().map_or(0, |progress| progress.len())
                + records(&new.records)
        }
        BatchWrite::Records { put, .. } => records(put),
        BatchWrite::RollBack { .. } => 0,
    };
    batch.writes.iter().map(write).sum()
}
