//! Random histories on the store and on the store in memory. All results and contents must be equal, and fields must
//! match the log of writes.

use std::sync::Arc;
use std::time::Duration;

use superstep_store::Metadata;
use superstep_store::checkpoint::{
    BatchWrite, CheckpointId, Checkpointer, Fence, MemoryCheckpointer, NamespaceQuery, NewCheckpoint, Prune,
    RecordKey, RecordKind, StatusKind, StoredStatus, ThreadQuery, WriteBatch,
};

use crate::Broken;
use crate::case::Target;
use crate::cases::history::expanded;
use crate::expect::{Expect as _, same, same_result};
use crate::rng::Rng;
use crate::shorthand::{format_fields, key, parse_changes, record};
use crate::thread_contents::{ThreadContents, ids, query};
use crate::write_log::WriteLog;
use crate::writer::{Writer, checkpoint_write, run, time};

const SEEDS: u64 = 8;
const STEPS: usize = 180;
const NAMESPACES: [&str; 2] = ["", "child"];

pub(crate) async fn random_histories_match_the_model(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    for seed in 0..SEEDS {
        let mut history = History::new(seed, store.clone());
        for step in 0..STEPS {
            let what = history.step().await.map_err(|broken| history.with_log(step, broken))?;
            history.log.push(what);
            if step % 18 == 17 || step + 1 == STEPS {
                history.compare().await.map_err(|broken| history.with_log(step, broken))?;
            }
        }
    }
    Ok(())
}

struct History {
    seed: u64,
    rng: Rng,
    store: Arc<dyn Checkpointer>,
    model: Arc<dyn Checkpointer>,
    threads: [String; 2],
    /// All generated ids: of checkpoints that exist, were pruned, or were refused.
    ids: Vec<CheckpointId>,
    /// The ids in the namespace of the next write.
    existing: Vec<CheckpointId>,
    /// The newest ids in the other namespace of its thread.
    others: Vec<CheckpointId>,
    fences: Vec<Fence>,
    count: u128,
    profile: Profile,
    written: WriteLog,
    log: Vec<String>,
}

/// The probabilities of the operations in a history: 5 means one in five.
///
/// Few whole values and few branches make long sequences of deltas. Many of them make many short ones.
#[derive(Clone, Copy)]
struct Profile {
    delete: usize,
    value: usize,
    branch: usize,
    prune: usize,
    roll_back: usize,
}

const LINEAR: Profile = Profile { delete: usize::MAX, value: 300, branch: 60, prune: 30, roll_back: 25 };
const PROFILES: [Profile; 4] = [
    LINEAR,
    Profile { delete: 40, value: 7, branch: 3, prune: 12, roll_back: 8 },
    Profile { delete: usize::MAX, value: 60, branch: 2, prune: 40, roll_back: 12 },
    Profile { delete: 90, value: 25, branch: 10, prune: 6, roll_back: 20 },
];

impl History {
    fn new(seed: u64, store: Arc<dyn Checkpointer>) -> Self {
        Self {
            seed,
            rng: Rng(seed),
            store,
            model: Arc::new(MemoryCheckpointer::new()),
            threads: [format!("seed {seed}, a"), format!("seed {seed}, b")],
            ids: Vec::new(),
            existing: Vec::new(),
            others: Vec::new(),
            fences: vec![Fence::default()],
            count: 1,
            profile: PROFILES.get(seed as usize % PROFILES.len()).copied().unwrap_or(LINEAR),
            written: WriteLog::default(),
            log: Vec::new(),
        }
    }

    /// Adds the last calls to a failure.
    fn with_log(&self, step: usize, broken: Broken) -> Broken {
        let last = self.log.get(self.log.len().saturating_sub(12)..).unwrap_or_default().join("\n    ");
        let promise = format!("{} (seed {}, call {step}, after\n    {last})", broken.promise, self.seed);
        Broken { promise, ..broken }
    }

    fn thread(&mut self) -> String {
        let [a, b] = &self.threads;
        if self.rng.one_in(4) { b.clone() } else { a.clone() }
    }

    async fn step(&mut self) -> Result<String, Broken> {
        if self.rng.one_in(self.profile.delete) {
            let thread = self.thread();
            let epoch = self.epoch(&thread).await?;
            let found = self.store.delete(&thread, epoch).await;
            let expected = self.model.delete(&thread, epoch).await;
            if matches!(expected, Ok(true)) {
                self.written.delete(&thread);
            }
            return same_result(format!("delete {thread} in epoch {epoch:?}"), &expected, &found);
        }
        if self.rng.one_in(20) {
            let (from, to) = (self.thread(), self.thread());
            let epoch = self.epoch(&from).await?;
            let found = self.store.copy(&from, &to, epoch).await;
            let expected = self.model.copy(&from, &to, epoch).await;
            if expected.is_ok() {
                self.written.copy(&from, &to);
            }
            return same_result(format!("copy {from} to {to} in epoch {epoch:?}"), &expected, &found);
        }
        if self.rng.one_in(self.profile.prune) {
            let prune = self.prune();
            let (found, expected) =
                (self.store.prune(prune.clone()).await, self.model.prune(prune.clone()).await);
            return same_result(format!("{prune:?}"), &expected, &found);
        }
        let batch = self.batch().await?;
        self.fences.push(batch.fence);
        let (found, expected) =
            (self.store.commit(batch.clone()).await, self.model.commit(batch.clone()).await);
        if expected.is_ok() {
            self.written.commit(&batch);
        }
        same_result(describe_batch(&batch), &expected, &found)
    }

    /// Returns no epoch, that of the thread, or another one.
    async fn epoch(&mut self, thread: &str) -> Result<Option<u64>, Broken> {
        let loaded = self.model.get(thread, "", None).await.works("the model can be read")?;
        Ok(match self.rng.below(4) {
            0 => None,
            1 => Some(loaded.fence.epoch + 1),
            _ => Some(loaded.fence.epoch),
        })
    }

    fn prune(&mut self) -> Prune {
        let minutes = self.rng.below(60) as u64;
        // The model does not contain the other histories in the store.
        let prune = Prune::new().thread(self.thread());
        let keep_last = (!self.rng.one_in(3)).then(|| self.rng.below(12));
        prune
            .keep_last(keep_last)
            .older_than(self.rng.one_in(3).then(|| time(-1) + Duration::from_secs(60 * minutes)))
    }

    async fn batch(&mut self) -> Result<WriteBatch, Broken> {
        let thread = self.thread();
        let namespace = if self.rng.one_in(4) { "child" } else { "" };
        let loaded = self.model.get(&thread, namespace, None).await.works("the model can be read")?;
        self.existing = ids(&*self.model, query(&thread, namespace)).await?;
        let other = if namespace.is_empty() { "child" } else { "" };
        self.others = ids(&*self.model, query(&thread, other).limit(8)).await?;
        let mut writer = Writer::new(&self.store, &thread).in_namespace(namespace);
        writer.origin = loaded.origin.unwrap_or_else(|| format!("origin {}", self.count).into());
        writer.fence = loaded.fence;
        if self.rng.one_in(12) {
            writer.fence = self.rng.pick(&self.fences).unwrap_or_default();
        }
        if self.rng.one_in(40) {
            writer.origin = "another".into();
        }
        let mut writes = Vec::new();
        let mut last = writer.fence.head;
        for _ in 0..[1, 1, 1, 2, 3, 0].get(self.rng.below(6)).copied().unwrap_or(1) {
            if self.rng.one_in(self.profile.roll_back) {
                let (write, is_own) = self.roll_back(namespace, last);
                if let (BatchWrite::RollBack { to, .. }, true) = (&write, is_own) {
                    last = *to;
                }
                writes.push(write);
            } else if self.rng.one_in(3) {
                writes.push(self.records(last));
            } else {
                let new = self.checkpoint(&writer, last);
                last = Some(new.checkpoint.id);
                writes.push(checkpoint_write(new));
            }
        }
        let raise = u64::from(self.rng.one_in(6));
        let status = self.rng.one_in(3).then(|| self.status());
        Ok(writer.batch(writes).epoch(writer.fence.epoch + raise).status(status))
    }

    /// Returns a roll back, and `true` if it concerns `namespace`.
    fn roll_back(&mut self, namespace: &str, last: Option<CheckpointId>) -> (BatchWrite, bool) {
        let is_own = !self.rng.one_in(3);
        let name = if is_own == (namespace == "child") { "child" } else { "" };
        let to = match self.rng.below(12) {
            0 => None,
            1 => last,
            2 => self.rng.pick(&self.ids),
            // Mostly near the end, so that long histories stay long.
            _ if is_own => {
                let newest = self.existing.get(..self.existing.len().min(8)).unwrap_or_default();
                self.rng.pick(newest)
            }
            _ => self.rng.pick(&self.others),
        };
        (BatchWrite::roll_back(name, to), is_own)
    }

    fn status(&mut self) -> StoredStatus {
        let kind = self.rng.pick(&StatusKind::ALL).unwrap_or_default();
        let wakes =
            (kind != StatusKind::Unknown && self.rng.one_in(2)).then(|| time(self.rng.below(60) as i64));
        let changed = (!self.rng.one_in(4)).then(|| time(self.rng.below(12) as i64));
        StoredStatus::new(kind).wakes_at(wakes).changed_at(changed)
    }

    fn checkpoint(&mut self, writer: &Writer, last: Option<CheckpointId>) -> NewCheckpoint {
        self.count += 1 + self.rng.below(3) as u128;
        let line: Vec<_> = (0..self.rng.below(5))
            .map(|n| {
                let field = ["list", "list", "n", "seldom"].get(self.rng.below(4)).copied().unwrap_or("list");
                let sign = if self.rng.one_in(self.profile.value) { '=' } else { '+' };
                format!("{field}{sign}{}.{n}", self.count)
            })
            .collect();
        let mut new = writer.draft("");
        new.changes = parse_changes(&line.join(" "));
        new.checkpoint.id = CheckpointId::from_bytes(self.count.to_be_bytes());
        if self.rng.one_in(60) {
            new.checkpoint.id = self.rng.pick(&self.ids).unwrap_or(new.checkpoint.id);
        }
        new.checkpoint.parent = match self.rng.one_in(self.profile.branch) {
            true if self.rng.one_in(8) => None,
            true => self.any_checkpoint().or(last),
            false => last,
        };
        new.checkpoint.step = self.rng.below(60) as i64 - 1;
        new.checkpoint.created_at = time(new.checkpoint.step);
        let metadata = (!self.rng.one_in(3)).then(|| ("n".to_owned(), self.rng.below(3).into()));
        let id = format!("run {} of {}", metadata.is_some(), writer.origin);
        new.checkpoint.run = run(&id, metadata.into_iter().collect());
        if self.rng.one_in(4) {
            new.checkpoint.next.clear();
        }
        new.records = (0..self.rng.below(3)).map(|_| record(self.key(), "with it")).collect();
        self.ids.push(new.checkpoint.id);
        new
    }

    /// Picks an existing checkpoint, or with a probability of one in six any generated id.
    fn any_checkpoint(&mut self) -> Option<CheckpointId> {
        let any = self.rng.one_in(6);
        self.rng.pick(if any { &self.ids } else { &self.existing })
    }

    fn records(&mut self, last: Option<CheckpointId>) -> BatchWrite {
        let checkpoint = if self.rng.one_in(4) { self.any_checkpoint().or(last) } else { last };
        BatchWrite::records(
            checkpoint.unwrap_or(CheckpointId::from_bytes([0; 16])),
            (0..self.rng.below(2)).map(|_| self.key()).collect(),
            (0..self.rng.below(3)).map(|n| record(self.key(), &format!("{}.{n}", self.count))).collect(),
        )
    }

    fn key(&mut self) -> RecordKey {
        if self.rng.one_in(12) {
            return key(RecordKey::NO_TASK, RecordKind::Goto, "0000");
        }
        if self.rng.one_in(8) {
            let name = ["r", "r\0"].get(self.rng.below(2)).copied().unwrap_or_default();
            return key(RecordKey::NO_TASK, RecordKind::Request, name);
        }
        let kind = if self.rng.one_in(2) { RecordKind::Interrupt } else { RecordKind::Answer };
        key(self.rng.below(2) as u32, kind, "q")
    }

    async fn compare(&self) -> Result<(), Broken> {
        for thread in &self.threads {
            let expected = ThreadContents::read(&*self.model, thread, &NAMESPACES).await?;
            let found = ThreadContents::read(&*self.store, thread, &NAMESPACES).await?;
            found.expect_equal(&expected, format!("`{thread}` has the same contents as in the model"))?;
            for namespace in &found.namespaces {
                let all = query(thread, &namespace.name);
                let page = self.store.history(all.clone()).await.works("a history can be read")?;
                // A store may limit the page.
                let history = expanded(&all, page)?;
                let listed = namespace.checkpoints.get(..history.len()).unwrap_or_default();
                same("a history has the contents of its checkpoints", listed, &history)?;
                for stored in &namespace.checkpoints {
                    let expected = self.written.fields_at(thread, &namespace.name, stored.checkpoint.id);
                    same(
                        "the fields of a checkpoint match the log of writes",
                        expected,
                        format_fields(stored),
                    )?;
                }
            }
        }
        for thread in &self.threads {
            for namespaces in [NamespaceQuery::new(&**thread), NamespaceQuery::new(&**thread).prefix("c")] {
                let expected = self.model.namespaces(namespaces.clone()).await;
                let found = self.store.namespaces(namespaces).await;
                same_result(format!("the namespaces of {thread}"), &expected, &found)?;
            }
            for (namespace, name) in [("", "r"), ("", "r\0"), ("child", "r")] {
                let request = query(thread, namespace).request(name);
                let expected = ids(&*self.model, request.clone()).await?;
                let found = ids(&*self.store, request).await?;
                same(format!("the checkpoints of `{thread}` with request {name:?}"), expected, found)?;
            }
        }
        let all = ThreadQuery::new().prefix(format!("seed {},", self.seed));
        let some =
            [StatusKind::Running, StatusKind::WaitingForAnswer, StatusKind::Unknown, StatusKind::Failed];
        let metadata: Metadata = [("n".to_owned(), 1.into())].into_iter().collect();
        let queries = [
            all.clone().unfinished(true),
            all.clone().due(time(30)),
            all.clone().newest_first(true),
            all.clone().status(some),
            all.clone().status(some).newest_first(true).unfinished(true),
            all.clone().status(some).due(time(30)),
            all.clone().metadata(metadata.clone()),
            all.clone().metadata(metadata.clone()).newest_first(true),
            all.clone().metadata(metadata).status(some).due(time(30)),
            all,
        ];
        for query in queries {
            let expected = self.model.threads(query.clone()).await.works("the model can be listed")?;
            let found = self.store.threads(query).await.works("threads can be listed")?;
            same("the list of threads is the same as in the model", expected.items, found.items)?;
        }
        Ok(())
    }
}

fn describe_batch(batch: &WriteBatch) -> String {
    let write = |write: &BatchWrite| match write {
        BatchWrite::Checkpoint(new) => {
            format!("checkpoint {} after {:?}", new.checkpoint.id, new.checkpoint.parent)
        }
        BatchWrite::Records { checkpoint, .. } => format!("records of {checkpoint}"),
        BatchWrite::RollBack { namespace, to, .. } => format!("roll back of `{namespace}` to {to:?}"),
    };
    let writes: Vec<_> = batch.writes.iter().map(write).collect();
    format!(
        "commit to {} `{}` at {:?}: {}, {:?}",
        batch.thread,
        batch.namespace,
        batch.fence,
        writes.join(", "),
        batch.status
    )
}
