//! What it takes to begin a run on a thread.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::checkpoint::{Batch, CheckpointId, Fence, Loaded, Query, StoreError, TaskRecord};
use crate::engine::persist::{
    Begin, GoOn, Journal, Opened as OpenedThread, Persist, Program, answer_record, open, open_state,
    run_record,
};
use crate::engine::{Driver, RunShared};
use crate::error::{Error, ErrorKind};
use crate::graph::Compiled;
use crate::interrupt::Answer;
use crate::node::NodeRef;
use crate::run::{Opened, OpenedRun, Opening, Outcome, Target};
use crate::state::GraphState;

use super::load::{load, read};
use super::run::{Again, OnThread, Resuming, WithInput};
use super::{AsNode, OnConflict, Thread};

/// How often a run tries to take its thread over from one that was dropped in the middle of a write.
const TRIES: usize = 8;

impl<S: GraphState, D: Send + Sync + 'static> Target<S, D> for OnThread<S, D, WithInput<S>> {
    async fn open(self, mut opening: Opening<S, D>) -> Result<Opened<S, D>, Error> {
        let Self { thread, at, run_id, on_conflict, how } = self;
        if let Some(id) = &run_id
            && let Some(ended) = had(&thread, id).await?
        {
            return match ended {
                Had::Complete(state) => Ok(ended_at(state)),
                Had::Incomplete => {
                    let how = Resuming::<S>::new(Vec::new());
                    OnThread { thread, at: None, run_id, on_conflict, how }.open(opening).await
                }
            };
        }
        let abandon = how.abandon_pending || thread.graph.0.abandon_pending;
        let mut patience = Patience::new(on_conflict);
        let (loaded, opened) = loop {
            let mut loaded = read(&thread, at).await?;
            require(&thread, &loaded, at)?;
            let at_rest = loaded.found.as_ref().is_none_or(|found| found.checkpoint.next.is_empty());
            if at_rest || abandon {
                if let OnConflict::Wait(_) = on_conflict {
                    // Whoever waits is many: the thread is taken before the input is used up.
                    let origin = origin(&thread, &loaded);
                    match claim(&thread, &loaded, Arc::clone(&origin)).await {
                        // A thread that is new has come into being with this origin.
                        Ok(fence) => (loaded.fence, loaded.origin) = (fence, Some(origin)),
                        Err(StoreError::Conflict(_)) if patience.wait().await => continue,
                        Err(error) => return Err(thread.graph.error(error)),
                    }
                }
                let stored = loaded.found.take();
                let opened = stored.map(|stored| {
                    open_state(&thread.graph.0.graph.0, &thread.name, stored)
                        .map_err(|kind| thread.graph.refuse(kind))
                });
                break (loaded, opened.transpose()?);
            }
            if !patience.wait().await {
                return Err(pending(&thread, &loaded));
            }
        };
        let (persist, shared) = writer(&thread, loaded, run_id, &mut opening);
        let driver = begin(opening, persist, shared, Begin::Input(how.input, opened))?;
        take_over(driver).await
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Target<S, D> for OnThread<S, D, Resuming<S>> {
    async fn open(self, mut opening: Opening<S, D>) -> Result<Opened<S, D>, Error> {
        let Self { thread, at, run_id, on_conflict, how } = self;
        let mut patience = Patience::new(on_conflict);
        let mut tries = 0;
        loop {
            tries += 1;
            let mut loaded = read(&thread, at).await?;
            require(&thread, &loaded, at)?;
            let head = loaded.fence.head;
            let Some(stored) = loaded.found.take() else {
                return Err(thread.graph.refuse(ErrorKind::NoThread { thread: thread.name.to_string() }));
            };
            if Some(stored.checkpoint.id) != head {
                let (thread_name, checkpoint) = (thread.name.to_string(), stored.checkpoint.id);
                return Err(thread.graph.refuse(ErrorKind::NotHead { thread: thread_name, checkpoint }));
            }
            let compiled = Arc::clone(&thread.graph.0.graph.0);
            let opened: OpenedThread<S> =
                open(&compiled, &thread.name, stored).map_err(|kind| thread.graph.refuse(kind))?;
            let answers = answers(&thread, &opened, how.answers.clone())?;
            let goto = nodes(&thread, &how.goto)?;
            let nothing = opened.is_at_rest(&compiled) && how.update.is_none() && goto.is_empty();
            if nothing {
                return Ok(ended_at((opened.step(), opened.state)));
            }
            let fence = loaded.fence;
            let (persist, shared) = writer(&thread, loaded, run_id.clone(), &mut opening);
            let go_on = GoOn { opened, answers, update: how.update.clone(), goto };
            let driver = begin(opening.again(), persist, shared, Begin::GoOn(go_on))?;
            match take_over(driver).await {
                // A run that was dropped in the middle of a write has written after this one has read.
                Err(error) if tries < TRIES && overtaken_in_epoch(&error, fence) => {}
                Err(error) if matches!(error.kind(), ErrorKind::Conflict(_)) && patience.wait().await => {}
                opened => return opened,
            }
        }
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Target<S, D> for OnThread<S, D, Again> {
    async fn open(self, mut opening: Opening<S, D>) -> Result<Opened<S, D>, Error> {
        let Self { thread, at, run_id, .. } = self;
        let mut loaded = read(&thread, at).await?;
        require(&thread, &loaded, at)?;
        let Some(stored) = loaded.found.take() else {
            return Err(thread.graph.refuse(ErrorKind::NoThread { thread: thread.name.to_string() }));
        };
        let compiled = Arc::clone(&thread.graph.0.graph.0);
        let opened: OpenedThread<S> =
            open(&compiled, &thread.name, stored).map_err(|kind| thread.graph.refuse(kind))?;
        if opened.is_at_rest(&compiled) {
            return Ok(ended_at((opened.step(), opened.state)));
        }
        let (persist, shared) = writer(&thread, loaded, run_id, &mut opening);
        let driver = begin(opening, persist, shared, Begin::Again(opened))?;
        take_over(driver).await
    }
}

/// A run that ended before it began.
fn ended_at<S: GraphState, D>((step, state): (u64, S)) -> Opened<S, D> {
    Opened::Ended(step, Outcome::Done(state))
}

/// A checkpoint that was asked for has to be there.
pub(super) fn require<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    loaded: &Loaded,
    at: Option<CheckpointId>,
) -> Result<(), Error> {
    match (at, &loaded.found) {
        (Some(checkpoint), None) => {
            Err(thread.graph.refuse(ErrorKind::NoCheckpoint { thread: thread.name.to_string(), checkpoint }))
        }
        _ => Ok(()),
    }
}

fn pending<S: GraphState, D: Send + Sync + 'static>(thread: &Thread<S, D>, loaded: &Loaded) -> Error {
    let next = loaded.found.iter().flat_map(|found| &found.checkpoint.next);
    let next = next.map(ToString::to_string).collect();
    thread.graph.refuse(ErrorKind::Pending { thread: thread.name.to_string(), next })
}

/// What a thread has had of a run of this id.
enum Had<S> {
    /// It was complete, with this state after this superstep.
    Complete((u64, S)),
    /// It is what the thread is at.
    Incomplete,
}

async fn had<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    id: &Arc<str>,
) -> Result<Option<Had<S>>, Error> {
    let query = Query {
        thread: Arc::clone(&thread.name),
        run: Some(Arc::clone(id)),
        limit: Some(1),
        ..Query::default()
    };
    let page = thread.graph.0.store.list(query).await.map_err(|error| thread.graph.error(error))?;
    let Some(last) = page.items.first() else { return Ok(None) };
    if !last.next.is_empty() {
        let head = read(thread, None).await?.fence.head;
        if head != Some(last.id) {
            // It was given up for another: going on with that one is not what is meant.
            let (name, checkpoint) = (thread.name.to_string(), last.id);
            return Err(thread.graph.refuse(ErrorKind::NotHead { thread: name, checkpoint }));
        }
        return Ok(Some(Had::Incomplete));
    }
    let snapshot = load(thread, Some(last.id)).await?;
    let complete = snapshot.and_then(|snapshot| {
        Some(Had::Complete((u64::try_from(snapshot.step).unwrap_or_default(), snapshot.state?)))
    });
    Ok(complete)
}

/// Raises a thread's epoch and nothing else.
async fn claim<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    loaded: &Loaded,
    origin: Arc<str>,
) -> Result<Fence, StoreError> {
    let epoch = loaded.fence.epoch.saturating_add(1);
    let batch = Batch {
        thread: Arc::clone(&thread.name),
        namespace: Arc::from(""),
        origin,
        fence: loaded.fence,
        epoch,
        writes: Vec::new(),
    };
    thread.graph.0.store.commit(batch).await?;
    Ok(Fence { epoch, ..loaded.fence })
}

fn origin<S: GraphState, D>(thread: &Thread<S, D>, loaded: &Loaded) -> Arc<str> {
    // A name that is used again after a deletion is another thread.
    let fresh = || Arc::from(format!("{}@{}", thread.name, CheckpointId::after(None)));
    loaded.origin.clone().unwrap_or_else(fresh)
}

/// What a run on the thread writes with.
pub(super) fn writer<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    loaded: Loaded,
    run_id: Option<Arc<str>>,
    opening: &mut Opening<S, D>,
) -> (Persist, RunShared) {
    let shared = opening.shared(Some(Arc::clone(&thread.name)));
    let id = run_id.unwrap_or_else(|| Arc::from(CheckpointId::after(None).to_string()));
    let program = Program::of(&thread.graph.0.graph.0).text();
    let run = run_record(id, program, shared.metadata.clone());
    let journal = Journal::new(
        Arc::clone(&thread.graph.0.store),
        Arc::clone(&thread.name),
        Arc::from(""),
        origin(thread, &loaded),
        loaded.fence,
        opening.options.durability,
    );
    let persist = Persist::new(journal, run, loaded.fence.head);
    let shared = RunShared { steps: Some(persist.steps()), ..shared };
    (persist, shared)
}

fn begin<S: GraphState, D: Send + Sync + 'static>(
    opening: Opening<S, D>,
    persist: Persist,
    shared: RunShared,
    begin: Begin<S>,
) -> Result<Driver<S, D>, Error> {
    let Opening { graph, context, options, events, .. } = opening;
    Driver::on_thread(Arc::clone(&graph.0), context, shared, options, events, persist, begin)
}

/// Makes the first writes of a run durable: from then on the thread is its own.
async fn take_over<S: GraphState, D: Send + Sync + 'static>(
    mut driver: Driver<S, D>,
) -> Result<Opened<S, D>, Error> {
    driver.claim().await?;
    Ok(Opened::Begun(Box::new(OpenedRun(driver))))
}

/// Whether what was overtaken was overtaken by a write of the run before it.
fn overtaken_in_epoch(error: &Error, fence: Fence) -> bool {
    matches!(error.kind(), ErrorKind::Conflict(conflict) if conflict.found.epoch == fence.epoch)
}

/// The records of answers, each to a question that is open.
fn answers<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    opened: &OpenedThread<S>,
    answers: Vec<Answer>,
) -> Result<Vec<TaskRecord>, Error> {
    let refuse = |kind| thread.graph.refuse(kind);
    let mut records: Vec<TaskRecord> = Vec::new();
    for answer in answers {
        let (id, json) = answer.into_parts().map_err(refuse)?;
        let asked = opened.known.iter().enumerate();
        let task = asked
            .filter(|(_, known)| known.questions.iter().any(|(open, _)| *open == id))
            .map(|(task, _)| task);
        let twice = records.iter().any(|record| *record.key.key == *id);
        match task.clone().next() {
            Some(task) if !twice => records.push(answer_record(task, &id, &json)),
            _ => return Err(refuse(ErrorKind::NotOpen { thread: thread.name.to_string(), id })),
        }
    }
    Ok(records)
}

/// The nodes that are meant.
fn nodes<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    places: &[AsNode],
) -> Result<Vec<usize>, Error> {
    places.iter().map(|place| node(thread, &place.node)).collect()
}

/// The node that is meant.
pub(super) fn node<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    node: &NodeRef,
) -> Result<usize, Error> {
    let graph: &Compiled<S, D> = &thread.graph.0.graph.0;
    let found = match node {
        NodeRef::Named(name) => graph.find(name),
        node => graph.places.get(node).copied(),
    };
    found.ok_or_else(|| {
        let reason = "the graph has no such node".to_owned();
        thread.graph.refuse(ErrorKind::NotAsNode { node: node.name().to_owned(), reason })
    })
}

/// How long a run still waits for its thread.
pub(super) struct Patience {
    until: Option<Instant>,
    pause: Duration,
}

impl Patience {
    pub(super) fn new(on_conflict: OnConflict) -> Self {
        let until = match on_conflict {
            OnConflict::Reject => None,
            OnConflict::Wait(limit) => Instant::now().checked_add(limit),
        };
        Self { until, pause: Duration::from_millis(5) }
    }

    /// Waits a little; `false` when it has waited long enough.
    pub(super) async fn wait(&mut self) -> bool {
        let Some(until) = self.until else { return false };
        if Instant::now() >= until {
            return false;
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(Duration::from_millis(250));
        true
    }
}
