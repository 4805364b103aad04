//! Random calls to SQLite and to the memory store, which must give the same results.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::json;
use superstep_store::checkpoint::{
    BatchWrite, ChangeKind, Checkpoint, CheckpointError, CheckpointId, CheckpointQuery, CheckpointSource,
    Checkpointer, Fence, FieldChange, MemoryCheckpointer, NewCheckpoint, Prune, RecordKey, RecordKind,
    RunRecord, StatusKind, StoredStatus, TaskRecord, ThreadQuery, WriteBatch,
};
use superstep_store::payload::{Encoding, Payload};

use crate::fixture::{File, wait};

const THREADS: [&str; 4] = ["", "t", "t%'\0\"é", "t2"];
const NAMESPACES: [&str; 2] = ["", "child.0"];
const FIELDS: [&str; 4] = ["list", "", "a.b\0'%", "välue"];

/// The focus of a sequence of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// All calls.
    Mixed,
    /// Histories of several chunks.
    Long,
    /// Branches of branches.
    Deep,
}

/// SplitMix64: the same seed gives the same numbers everywhere.
struct Chance(u64, Kind);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn payload(&mut self) -> Payload {
        let length = match self.below(if self.1 == Kind::Long { 800 } else { 40 }) {
            0 => 30_000,
            1 => 5_000,
            2 => 0,
            _ => self.below(60),
        };
        let encoding = self.of(&[Encoding::Json, Encoding::Json, Encoding::Bytes, Encoding::Sealed]);
        let byte = self.of(&[b'x', b'\n', 0, 0xff]);
        Payload::new(encoding, vec![byte; length])
    }

    fn record_key(&mut self) -> RecordKey {
        let task = self.of(&[0, 1, RecordKey::NO_TASK]);
        let kind = self.of(&[RecordKind::Interrupt, RecordKind::Answer, RecordKind::Step]);
        RecordKey::new(task, kind, self.of(&["", "k", "k\0'"]))
    }

    fn records(&mut self) -> Vec<TaskRecord> {
        let count = if self.one_in(8) { self.below(4) } else { 0 };
        (0..count).map(|_| TaskRecord::new(self.record_key(), self.payload())).collect()
    }

    fn changes(&mut self) -> Vec<FieldChange> {
        let count = self.of(&[0, 1, 1, 1, 2, 3, 5]);
        (0..count)
            .map(|_| {
                let field = self.of(&FIELDS);
                let whole = self.one_in(if self.1 == Kind::Mixed { 30 } else { 200 });
                let kind = if whole { ChangeKind::Value } else { ChangeKind::Delta };
                FieldChange::new(field, kind, self.payload())
            })
            .collect()
    }

    fn run(&mut self) -> Arc<RunRecord> {
        let metadata = self.of(&["{}", r#"{"a":1}"#, r#"{"a":1.0}"#, r#"{"a":"1","b":null}"#]);
        let run = RunRecord::new(self.of(&["r1", "r2", "r'\0"]), self.of(&["p", "q"]));
        Arc::new(run.metadata(serde_json::from_str(metadata).unwrap()))
    }

    fn batch(&mut self, thread: &str, namespace: &str, fence: Fence, ids: &[CheckpointId]) -> WriteBatch {
        let mut known = ids.to_vec();
        let mut greatest = fence.head;
        let run = self.run();
        let count = if self.one_in(6) { self.below(if self.1 == Kind::Long { 300 } else { 60 }) } else { 1 };
        let branches = if self.1 == Kind::Long { 2_000 } else { 60 };
        let writes = (0..count)
            .map(|_| {
                if self.one_in(10) && !known.is_empty() {
                    let checkpoint = self.of(&known);
                    let remove = (0..self.below(3)).map(|_| self.record_key()).collect();
                    return BatchWrite::records(checkpoint, remove, self.records());
                }
                let id = if self.one_in(200) && !known.is_empty() {
                    self.of(&known)
                } else {
                    CheckpointId::after(greatest)
                };
                let parent = match self.below(branches) {
                    0 => None,
                    1..=4 if !known.is_empty() => Some(self.of(&known)),
                    5 if self.one_in(20) => Some(CheckpointId::after(None)),
                    6..=50 if self.1 == Kind::Deep && known.len() > 4 => {
                        known.get(known.len() - 1 - self.below(4)).copied()
                    }
                    _ => greatest,
                };
                greatest = greatest.max(Some(id));
                known.push(id);
                let step = self.below(100) as i64 - 1;
                let source = self.of(&[
                    CheckpointSource::Input,
                    CheckpointSource::Loop,
                    CheckpointSource::Update,
                    CheckpointSource::Fork,
                ]);
                let created_at = UNIX_EPOCH + Duration::from_secs(self.below(100) as u64);
                let checkpoint = Checkpoint::new(id, step, source, run.clone(), created_at)
                    .parent(parent)
                    .next((0..self.below(3)).map(|_| self.of(&["a", "", "é\""]).into()).collect())
                    .progress(if self.one_in(5) { Some(self.payload()) } else { None });
                let new = NewCheckpoint::new(checkpoint).changes(self.changes()).records(self.records());
                BatchWrite::checkpoint(new)
            })
            .collect();
        let mut fence = fence;
        if self.one_in(40) {
            fence.epoch += 1;
        }
        if self.one_in(40) {
            fence.head = ids.first().copied();
        }
        let origin = if self.one_in(60) { "other" } else { "origin" };
        let epoch = if self.one_in(10) { fence.epoch + 1 } else { fence.epoch };
        let status = self.one_in(3).then(|| {
            let wakes_at = UNIX_EPOCH + Duration::from_secs(self.below(100) as u64);
            match self.of(&StatusKind::ALL) {
                StatusKind::Unknown => StoredStatus::default(),
                kind => StoredStatus::new(kind).wakes_at(self.one_in(2).then_some(wakes_at)),
            }
        });
        let batch = WriteBatch::new(thread, origin, fence).namespace(namespace).epoch(epoch);
        batch.status(status).writes(writes)
    }
}

fn text<T: std::fmt::Debug>(result: Result<T, CheckpointError>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn ids(store: &dyn Checkpointer, thread: &str, namespace: &str) -> Vec<CheckpointId> {
    let query = CheckpointQuery::new(thread).namespace(namespace);
    let mut ids: Vec<CheckpointId> = Vec::new();
    loop {
        let page = wait(store.list(query.clone().before(ids.last().copied()))).unwrap();
        ids.extend(page.items.iter().map(|checkpoint| checkpoint.id));
        if !page.more {
            ids.reverse();
            return ids;
        }
    }
}

fn compare(seed: u64, sqlite: &dyn Checkpointer, model: &dyn Checkpointer, chance: &mut Chance) {
    for thread in THREADS {
        for namespace in NAMESPACES {
            let query = CheckpointQuery::new(thread).namespace(namespace);
            let ids = ids(model, thread, namespace);
            let wanted: Vec<_> = std::iter::once(None)
                .chain(ids.iter().filter(|_| chance.one_in(6)).copied().map(Some))
                .chain([Some(CheckpointId::after(None))])
                .collect();
            for id in wanted {
                let mut found = [sqlite, model].map(|store| wait(store.get(thread, namespace, id)).unwrap());
                for loaded in &mut found {
                    if let Some(stored) = &mut loaded.found {
                        stored.fields.sort_by(|one, other| one.field.cmp(&other.field));
                    }
                }
                let [sqlite, model] = found;
                assert!(
                    sqlite == model,
                    "seed {seed}, {thread:?} {namespace:?} {id:?}\n{sqlite:#?}\n{model:#?}"
                );
            }
            for query in [
                query.clone(),
                query.clone().limit(3).source(CheckpointSource::Loop),
                query.clone().before(ids.last().copied()).run("r'\0"),
                query.clone().metadata(json!({"a": 1}).as_object().unwrap().clone()),
                query.metadata(json!({"b": null, "a": "1"}).as_object().unwrap().clone()),
            ] {
                let [sqlite, model] = [sqlite, model].map(|store| wait(store.list(query.clone())).unwrap());
                assert_eq!(sqlite, model, "seed {seed}");
            }
        }
    }
    for query in [
        ThreadQuery::default(),
        ThreadQuery::new().prefix("t").unfinished(true),
        ThreadQuery::new().due(UNIX_EPOCH + Duration::from_secs(50)),
        ThreadQuery::new().after("t").prefix("").limit(1),
        ThreadQuery::new().prefix("t%"),
    ] {
        let [sqlite, model] = [sqlite, model].map(|store| wait(store.threads(query.clone())).unwrap());
        assert_eq!(sqlite, model, "seed {seed}");
    }
}

fn play(seed: u64) {
    let kind = [Kind::Mixed, Kind::Long, Kind::Deep][usize::try_from(seed % 3).unwrap()];
    let mut chance = Chance(seed, kind);
    let file = File::new();
    // Two handles, each of which sees the writes of the other.
    let mut stores = [file.open(), file.open()];
    let model = MemoryCheckpointer::new();
    for call in 0..120 {
        let store = stores[chance.below(2)].clone();
        let (thread, namespace) = (chance.of(&THREADS), chance.of(&NAMESPACES));
        match chance.below(if kind == Kind::Mixed { 40 } else { 80 }) {
            0 => {
                let found = [wait(store.delete(thread, None)), wait(model.delete(thread, None))].map(text);
                assert_eq!(found[0], found[1], "seed {seed} call {call}");
            }
            1 => {
                let to = chance.of(&THREADS);
                let found =
                    [wait(store.copy(thread, to, None)), wait(model.copy(thread, to, None))].map(text);
                assert_eq!(found[0], found[1], "seed {seed} call {call}");
            }
            2..=4 => {
                let mut prune = Prune::new();
                if chance.one_in(2) {
                    prune = prune.thread(thread);
                }
                if chance.one_in(2) {
                    prune = prune.keep_last(chance.of(&[0, 1, 2, 5, 70]));
                }
                if chance.one_in(2) {
                    prune = prune.older_than(UNIX_EPOCH + Duration::from_secs(chance.below(100) as u64));
                }
                let found = [wait(store.prune(prune.clone())), wait(model.prune(prune))].map(text);
                assert_eq!(found[0], found[1], "seed {seed} call {call}");
            }
            5 => stores[chance.below(2)] = file.open(),
            6 => compare(seed, &store, &model, &mut chance),
            _ => {
                let fence = wait(model.get(thread, namespace, None)).unwrap().fence;
                let ids = ids(&model, thread, namespace);
                let batch = chance.batch(thread, namespace, fence, &ids);
                let found = [wait(store.commit(batch.clone())), wait(model.commit(batch))].map(text);
                assert_eq!(found[0], found[1], "seed {seed} call {call}");
            }
        }
    }
    compare(seed, &stores[0], &model, &mut chance);
}

#[test]
fn random_calls_match_the_memory_store() {
    for seed in 0..15 {
        play(seed);
    }
}
