//! Random histories, on the store and on the one in memory: every answer and everything that can be read is the same; and
//! the values are what was written on the way to them.

use std::sync::Arc;
use std::time::Duration;

use superstep_store::Metadata;
use superstep_store::checkpoint::{
    BatchWrite, CheckpointId, Checkpointer, Fence, MemoryCheckpointer, NewCheckpoint, Prune, RecordKey,
    RecordKind, ThreadQuery, WriteBatch,
};

use crate::Broken;
use crate::case::Here;
use crate::dice::Dice;
use crate::everything::{Everything, ids, query};
use crate::expect::{Expect, alike, same};
use crate::notation::{key, line, pieces, record};
use crate::writer::{Writer, adds, run, time};
use crate::written::Written;

const SEEDS: u64 = 8;
const STEPS: usize = 180;
const NAMESPACES: [&str; 2] = ["", "child"];

pub(crate) async fn random_histories_are_as_in_the_model(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    for seed in 0..SEEDS {
        let mut history = History::new(seed, store.clone());
        for step in 0..STEPS {
            let what = history.step().await.map_err(|broken| history.tell(step, broken))?;
            history.log.push(what);
            if step % 18 == 17 || step + 1 == STEPS {
                history.compare().await.map_err(|broken| history.tell(step, broken))?;
            }
        }
    }
    Ok(())
}

struct History {
    seed: u64,
    dice: Dice,
    store: Arc<dyn Checkpointer>,
    model: Arc<dyn Checkpointer>,
    threads: [String; 2],
    /// Ids that were given, of checkpoints that are there, were dropped, or never came to be.
    ids: Vec<CheckpointId>,
    /// Those that are in the namespace that is written next.
    there: Vec<CheckpointId>,
    fences: Vec<Fence>,
    count: u128,
    temper: Temper,
    written: Written,
    log: Vec<String>,
}

/// What a history is like: the chances of things, as one in so many. Few whole values and few branches make long rows of
/// deltas; many make many short ones.
#[derive(Clone, Copy)]
struct Temper {
    delete: usize,
    value: usize,
    branch: usize,
    prune: usize,
}

const CALM: Temper = Temper { delete: usize::MAX, value: 300, branch: 60, prune: 30 };
const TEMPERS: [Temper; 4] = [
    CALM,
    Temper { delete: 40, value: 7, branch: 3, prune: 12 },
    Temper { delete: usize::MAX, value: 60, branch: 2, prune: 40 },
    Temper { delete: 90, value: 25, branch: 10, prune: 6 },
];

impl History {
    fn new(seed: u64, store: Arc<dyn Checkpointer>) -> Self {
        Self {
            seed,
            dice: Dice(seed),
            store,
            model: Arc::new(MemoryCheckpointer::new()),
            threads: [format!("seed {seed}, a"), format!("seed {seed}, b")],
            ids: Vec::new(),
            there: Vec::new(),
            fences: vec![Fence::default()],
            count: 1,
            temper: TEMPERS.get(seed as usize % TEMPERS.len()).copied().unwrap_or(CALM),
            written: Written::default(),
            log: Vec::new(),
        }
    }

    /// What led to it: the last calls.
    fn tell(&self, step: usize, broken: Broken) -> Broken {
        let last = self.log.get(self.log.len().saturating_sub(12)..).unwrap_or_default().join("\n    ");
        let promise = format!("{} (seed {}, call {step}, after\n    {last})", broken.promise, self.seed);
        Broken { promise, ..broken }
    }

    fn thread(&mut self) -> String {
        let [a, b] = &self.threads;
        if self.dice.one_in(4) { b.clone() } else { a.clone() }
    }

    async fn step(&mut self) -> Result<String, Broken> {
        if self.dice.one_in(self.temper.delete) {
            let thread = self.thread();
            let (found, expected) = (self.store.delete(&thread).await, self.model.delete(&thread).await);
            self.written.delete(&thread);
            return alike(format!("delete {thread}"), &expected, &found);
        }
        if self.dice.one_in(20) {
            let (from, to) = (self.thread(), self.thread());
            let (found, expected) = (self.store.copy(&from, &to).await, self.model.copy(&from, &to).await);
            if expected.is_ok() {
                self.written.copy(&from, &to);
            }
            return alike(format!("copy {from} to {to}"), &expected, &found);
        }
        if self.dice.one_in(self.temper.prune) {
            let prune = self.prune();
            let (found, expected) =
                (self.store.prune(prune.clone()).await, self.model.prune(prune.clone()).await);
            return alike(format!("{prune:?}"), &expected, &found);
        }
        let batch = self.batch().await?;
        self.fences.push(batch.fence);
        let (found, expected) =
            (self.store.commit(batch.clone()).await, self.model.commit(batch.clone()).await);
        if expected.is_ok() {
            self.written.commit(&batch);
        }
        alike(told_batch(&batch), &expected, &found)
    }

    fn prune(&mut self) -> Prune {
        let minutes = self.dice.roll(60) as u64;
        Prune {
            // Other histories in the store are no part of the model.
            thread: Some(self.thread().into()),
            keep_last: (!self.dice.one_in(3)).then(|| self.dice.roll(12)),
            older_than: self.dice.one_in(3).then(|| time(-1) + Duration::from_secs(60 * minutes)),
        }
    }

    async fn batch(&mut self) -> Result<WriteBatch, Broken> {
        let thread = self.thread();
        let namespace = if self.dice.one_in(4) { "child" } else { "" };
        let loaded = self.model.get(&thread, namespace, None).await.works("the model can be read")?;
        self.there = ids(&*self.model, query(&thread, namespace)).await?;
        let mut writer = Writer::new(&self.store, &thread).within(namespace);
        writer.origin = loaded.origin.unwrap_or_else(|| format!("origin {}", self.count).into());
        writer.fence = loaded.fence;
        if self.dice.one_in(12) {
            writer.fence = self.dice.pick(&self.fences).unwrap_or_default();
        }
        if self.dice.one_in(40) {
            writer.origin = "another".into();
        }
        let mut writes = Vec::new();
        let mut last = writer.fence.head;
        for _ in 0..[1, 1, 1, 2, 3, 0].get(self.dice.roll(6)).copied().unwrap_or(1) {
            if self.dice.one_in(3) {
                writes.push(self.records(last));
            } else {
                let new = self.checkpoint(&writer, last);
                last = Some(new.checkpoint.id);
                writes.push(adds(new));
            }
        }
        let raise = u64::from(self.dice.one_in(6));
        Ok(WriteBatch { epoch: writer.fence.epoch + raise, ..writer.batch(writes) })
    }

    fn checkpoint(&mut self, writer: &Writer, last: Option<CheckpointId>) -> NewCheckpoint {
        self.count += 1 + self.dice.roll(3) as u128;
        let line: Vec<_> = (0..self.dice.roll(5))
            .map(|n| {
                let field = ["list", "list", "n", "seldom"].get(self.dice.roll(4)).copied().unwrap_or("list");
                let sign = if self.dice.one_in(self.temper.value) { '=' } else { '+' };
                format!("{field}{sign}{}.{n}", self.count)
            })
            .collect();
        let mut new = writer.draft("");
        new.changes = pieces(&line.join(" "));
        new.checkpoint.id = CheckpointId::from_bytes(self.count.to_be_bytes());
        if self.dice.one_in(60) {
            new.checkpoint.id = self.dice.pick(&self.ids).unwrap_or(new.checkpoint.id);
        }
        new.checkpoint.parent = match self.dice.one_in(self.temper.branch) {
            true if self.dice.one_in(8) => None,
            true => self.some().or(last),
            false => last,
        };
        new.checkpoint.step = self.dice.roll(60) as i64 - 1;
        new.checkpoint.created_at = time(new.checkpoint.step);
        new.checkpoint.run = run(&format!("run of {}", writer.origin), Metadata::new());
        if self.dice.one_in(4) {
            new.checkpoint.next.clear();
        }
        new.records = (0..self.dice.roll(3)).map(|_| record(self.key(), "with it")).collect();
        self.ids.push(new.checkpoint.id);
        new
    }

    /// A checkpoint that is there, or in one of six times any that ever was.
    fn some(&mut self) -> Option<CheckpointId> {
        let any = self.dice.one_in(6);
        self.dice.pick(if any { &self.ids } else { &self.there })
    }

    fn records(&mut self, last: Option<CheckpointId>) -> BatchWrite {
        let some = if self.dice.one_in(4) { self.some().or(last) } else { last };
        BatchWrite::Records {
            checkpoint: some.unwrap_or(CheckpointId::from_bytes([0; 16])),
            remove: (0..self.dice.roll(2)).map(|_| self.key()).collect(),
            put: (0..self.dice.roll(3)).map(|n| record(self.key(), &format!("{}.{n}", self.count))).collect(),
        }
    }

    fn key(&mut self) -> RecordKey {
        if self.dice.one_in(12) {
            return key(RecordKey::NO_TASK, RecordKind::Goto, "0000");
        }
        let kind = if self.dice.one_in(2) { RecordKind::Interrupt } else { RecordKind::Answer };
        key(self.dice.roll(2) as u32, kind, "q")
    }

    async fn compare(&self) -> Result<(), Broken> {
        for thread in &self.threads {
            let expected = Everything::of(&*self.model, thread, &NAMESPACES).await?;
            let found = Everything::of(&*self.store, thread, &NAMESPACES).await?;
            found.is(&expected, format!("`{thread}` reads as in the model"))?;
            for namespace in &found.namespaces {
                for stored in &namespace.checkpoints {
                    let expected = self.written.line(thread, &namespace.name, stored.checkpoint.id);
                    same("a checkpoint reads as what led to it", expected, line(stored))?;
                }
            }
        }
        let query = |unfinished| ThreadQuery {
            prefix: Some(format!("seed {},", self.seed).into()),
            unfinished,
            ..ThreadQuery::default()
        };
        for unfinished in [false, true] {
            let expected = self.model.threads(query(unfinished)).await.works("the model can be listed")?;
            let found = self.store.threads(query(unfinished)).await.works("threads can be listed")?;
            same("threads are listed as in the model", expected.items, found.items)?;
        }
        Ok(())
    }
}

fn told_batch(batch: &WriteBatch) -> String {
    let write = |write: &BatchWrite| match write {
        BatchWrite::Checkpoint(new) => {
            format!("checkpoint {} after {:?}", new.checkpoint.id, new.checkpoint.parent)
        }
        BatchWrite::Records { checkpoint, .. } => format!("records of {checkpoint}"),
    };
    let writes: Vec<_> = batch.writes.iter().map(write).collect();
    format!("commit to {} `{}` at {:?}: {}", batch.thread, batch.namespace, batch.fence, writes.join(", "))
}
