//! Random histories, on the store and on the one in memory: every answer and everything that can be read is the same.

use std::mem::discriminant;
use std::sync::Arc;
use std::time::Duration;

use graph_core::Metadata;
use graph_core::checkpoint::{
    Batch, CheckpointId, Checkpointer, Fence, MemoryCheckpointer, NewCheckpoint, Prune, RecordKey,
    RecordKind, StoreError, ThreadQuery, Write,
};

use crate::Broken;
use crate::case::Here;
use crate::everything::Everything;
use crate::expect::{Expect, same, told};
use crate::notation::{key, pieces, record};
use crate::writer::{Writer, adds, run, time};

const SEEDS: u64 = 10;
const STEPS: usize = 160;
const NAMESPACES: [&str; 2] = ["", "child"];

pub(crate) async fn random_histories_are_as_in_the_model(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    for seed in 0..SEEDS {
        let mut history = History::new(seed, store.clone());
        for step in 0..STEPS {
            let what = history.step().await.map_err(|broken| history.tell(step, broken))?;
            history.log.push(what);
            if step % 10 == 9 || step + 1 == STEPS {
                history.compare().await.map_err(|broken| history.tell(step, broken))?;
            }
        }
    }
    Ok(())
}

/// Numbers that are the same for the same seed (SplitMix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % below.max(1)
    }

    fn one_in(&mut self, chances: usize) -> bool {
        self.roll(chances) == 0
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> Option<T> {
        from.get(self.roll(from.len())).cloned()
    }
}

struct History {
    seed: u64,
    dice: Dice,
    store: Arc<dyn Checkpointer>,
    model: Arc<dyn Checkpointer>,
    threads: [String; 2],
    /// Ids that were given, of checkpoints that are there, were dropped, or never came to be.
    ids: Vec<CheckpointId>,
    fences: Vec<Fence>,
    count: u128,
    log: Vec<String>,
}

impl History {
    fn new(seed: u64, store: Arc<dyn Checkpointer>) -> Self {
        Self {
            seed,
            dice: Dice(seed),
            store,
            model: Arc::new(MemoryCheckpointer::new()),
            threads: [format!("seed {seed}, a"), format!("seed {seed}, b")],
            ids: Vec::new(),
            fences: vec![Fence::default()],
            count: 1,
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
        match self.dice.roll(40) {
            0 => {
                let thread = self.thread();
                let (found, expected) = (self.store.delete(&thread).await, self.model.delete(&thread).await);
                alike(format!("delete {thread}"), &expected, &found)
            }
            1 | 2 => {
                let (from, to) = (self.thread(), self.thread());
                let (found, expected) =
                    (self.store.copy(&from, &to).await, self.model.copy(&from, &to).await);
                alike(format!("copy {from} to {to}"), &expected, &found)
            }
            3..=5 => {
                let prune = self.prune();
                let (found, expected) =
                    (self.store.prune(prune.clone()).await, self.model.prune(prune.clone()).await);
                alike(format!("{prune:?}"), &expected, &found)
            }
            _ => {
                let batch = self.batch().await?;
                self.fences.push(batch.fence);
                let (found, expected) =
                    (self.store.commit(batch.clone()).await, self.model.commit(batch.clone()).await);
                alike(told_batch(&batch), &expected, &found)
            }
        }
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

    async fn batch(&mut self) -> Result<Batch, Broken> {
        let thread = self.thread();
        let namespace = if self.dice.one_in(4) { "child" } else { "" };
        let loaded = self.model.get(&thread, namespace, None).await.works("the model can be read")?;
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
        Ok(Batch { epoch: writer.fence.epoch + raise, ..writer.batch(writes) })
    }

    fn checkpoint(&mut self, writer: &Writer, last: Option<CheckpointId>) -> NewCheckpoint {
        self.count += 1 + self.dice.roll(3) as u128;
        let line: Vec<_> = (0..self.dice.roll(5))
            .map(|n| {
                let field = ["list", "list", "n", "seldom"].get(self.dice.roll(4)).copied().unwrap_or("list");
                let sign = if self.dice.one_in(7) { '=' } else { '+' };
                format!("{field}{sign}{}.{n}", self.count)
            })
            .collect();
        let mut new = writer.draft("");
        new.pieces = pieces(&line.join(" "));
        new.checkpoint.id = CheckpointId::from_bytes(self.count.to_be_bytes());
        if self.dice.one_in(60) {
            new.checkpoint.id = self.dice.pick(&self.ids).unwrap_or(new.checkpoint.id);
        }
        new.checkpoint.parent = match self.dice.roll(10) {
            0 => None,
            1..=3 => self.dice.pick(&self.ids).or(last),
            _ => last,
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

    fn records(&mut self, last: Option<CheckpointId>) -> Write {
        let some = if self.dice.one_in(5) { self.dice.pick(&self.ids).or(last) } else { last };
        Write::Records {
            checkpoint: some.unwrap_or(CheckpointId::from_bytes([0; 16])),
            remove: (0..self.dice.roll(2)).map(|_| self.key()).collect(),
            put: (0..self.dice.roll(3)).map(|n| record(self.key(), &format!("{}.{n}", self.count))).collect(),
        }
    }

    fn key(&mut self) -> RecordKey {
        let kind = if self.dice.one_in(2) { RecordKind::Interrupt } else { RecordKind::Answer };
        key(self.dice.roll(2) as u32, kind, "q")
    }

    async fn compare(&self) -> Result<(), Broken> {
        for thread in &self.threads {
            let expected = Everything::of(&*self.model, thread, &NAMESPACES).await?;
            let found = Everything::of(&*self.store, thread, &NAMESPACES).await?;
            found.is(&expected, format!("`{thread}` reads as in the model"))?;
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

/// That two stores have given the same answer.
fn alike<T: PartialEq + std::fmt::Debug>(
    call: String,
    expected: &Result<T, StoreError>,
    found: &Result<T, StoreError>,
) -> Result<String, Broken> {
    let is_so = match (expected, found) {
        (Ok(expected), Ok(found)) => expected == found,
        (Err(StoreError::Conflict(expected)), Err(StoreError::Conflict(found))) => expected == found,
        (Err(expected), Err(found)) => discriminant(expected) == discriminant(found),
        _ => false,
    };
    let text = |result: &Result<T, StoreError>| match result {
        Ok(value) => format!("success: {value:?}"),
        Err(error) => told(error),
    };
    if is_so {
        return Ok(format!("{call}: {}", text(expected)));
    }
    Err(Broken::new(format!("a call gives what it gives in the model: {call}"), text(expected), text(found)))
}

fn told_batch(batch: &Batch) -> String {
    let write = |write: &Write| match write {
        Write::Checkpoint(new) => {
            format!("checkpoint {} after {:?}", new.checkpoint.id, new.checkpoint.parent)
        }
        Write::Records { checkpoint, .. } => format!("records of {checkpoint}"),
    };
    let writes: Vec<_> = batch.writes.iter().map(write).collect();
    format!("commit to {} `{}` at {:?}: {}", batch.thread, batch.namespace, batch.fence, writes.join(", "))
}
