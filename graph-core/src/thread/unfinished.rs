use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use crate::checkpoint::{CheckpointId, StoredCheckpoint, ThreadQuery};
use crate::engine::clock;
use crate::engine::persist::{Gate, StoredFailure, read_gate, read_stopped, read_tasks};
use crate::error::Error;
use crate::interrupt::OpenInterrupt;
use crate::state::GraphState;

use super::load::read;
use super::{PersistentGraph, TaskError, Thread};

/// The threads on which something is left to run, by name: await it for a list, or read it [page by page](Self::next_page).
/// Made by [`PersistentGraph::unfinished`] and [`PersistentGraph::due`].
#[must_use = "a list does nothing until it is awaited"]
#[derive(Debug)]
pub struct Unfinished<S: GraphState, D = ()> {
    graph: PersistentGraph<S, D>,
    query: ThreadQuery,
    /// Only those who have slept until then.
    due: Option<SystemTime>,
    ended: bool,
}

/// A thread on which something is left to run.
#[derive(Debug)]
#[non_exhaustive]
pub struct UnfinishedThread<S: GraphState, D = ()> {
    /// The thread: [`resume`](Thread::resume) goes on.
    pub thread: Thread<S, D>,
    /// Its newest checkpoint.
    pub checkpoint: Option<CheckpointId>,
    /// The run that has made it.
    pub run_id: Option<Arc<str>>,
    /// The nodes that are planned, a name for each task.
    pub next: Vec<Arc<str>>,
    /// What it waits for.
    pub status: ThreadStatus,
    /// When the first of its tasks wakes up that sleep, if any does.
    pub wakes_at: Option<SystemTime>,
}

/// What a thread waits for on which something is left to run.
#[derive(Debug)]
#[non_exhaustive]
pub enum ThreadStatus {
    /// Somebody has to answer. With a time to wake up, the question runs out then.
    WaitingForAnswer(Vec<OpenInterrupt>),
    /// It has stopped at breakpoints.
    AtBreakpoint {
        /// The nodes that would run next and have one before them.
        before: Vec<String>,
        /// The nodes that have just run and have one after them.
        after: Vec<String>,
    },
    /// It sleeps, and nobody is at it.
    WaitingForTime,
    /// It was [told to stop](crate::run::Stop).
    Stopped,
    /// A node has failed for good, or what it wrote was refused. (Should somebody have gone on and died since, nothing says so.)
    Failed(Vec<TaskError>),
    /// It has said nothing of its end: a run is under way, here or in another process, or has died, or was dropped, or has come
    /// to its recursion limit or time-out. Nobody but the program can know; to go on takes it over.
    Running,
    /// What is stored of it cannot be read.
    Unreadable(Error),
}

/// So many threads are looked up at a time.
const PAGE: usize = 64;

impl<S: GraphState, D: Send + Sync + 'static> PersistentGraph<S, D> {
    /// The threads on which something is left to run: what asks, sleeps, has failed, was told to stop, or was under way when
    /// its process died.
    ///
    /// ```
    /// # use superstep::{END, GraphState, START, StateGraph};
    /// # use superstep::checkpoint::MemoryCheckpointer;
    /// use superstep::thread::ThreadStatus;
    /// # use std::time::SystemTime;
    /// # #[derive(GraphState, Clone)] struct Count { #[state(reducer = add)] total: u32 }
    /// # async fn add() -> CountUpdate { Count::update().total(1_u32) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Count>::new().edge(START, add).edge(add, END).compile()?;
    /// # let graph = graph.with_checkpointer(MemoryCheckpointer::default());
    /// # drop(graph.thread("a").run(Count::input()).start().await?);
    /// // When the program starts, and nobody else is at these threads:
    /// for left in graph.unfinished().await? {
    ///     match left.status {
    ///         ThreadStatus::Running | ThreadStatus::Stopped => drop(left.thread.resume(()).await?),
    ///         ThreadStatus::WaitingForTime if left.wakes_at.is_some_and(|time| time <= SystemTime::now()) => {
    ///             left.thread.resume(()).await?;
    ///         }
    ///         // Somebody has to answer, or to see what is wrong.
    ///         _ => {}
    ///     }
    /// }
    /// assert!(graph.unfinished().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A thread whose join was not filled has nothing left to run, and is none of them. The newest checkpoint of each is read.
    pub fn unfinished(&self) -> Unfinished<S, D> {
        let query = ThreadQuery { unfinished: true, ..ThreadQuery::default() };
        Unfinished { graph: self.clone(), query, due: None, ended: false }
    }

    /// Those of them that nobody is at, and that can go on at this time: they have slept long enough, or their question has run
    /// out. For what looks after sleepers now and then, next to runs that are under way: [`Context::sleep`](crate::Context::sleep).
    pub fn due(&self, now: SystemTime) -> Unfinished<S, D> {
        Unfinished { due: Some(now), ..self.unfinished() }
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Unfinished<S, D> {
    /// Only those whose name begins so.
    pub fn prefix(mut self, prefix: impl AsRef<str>) -> Self {
        self.query.prefix = Some(prefix.as_ref().into());
        self
    }

    /// Only those whose name sorts behind this one.
    pub fn after(mut self, name: impl AsRef<str>) -> Self {
        self.query.after = Some(name.as_ref().into());
        self
    }

    /// The next few; nothing at the end. One that cannot be read is listed with the reason, next to the others.
    ///
    /// # Errors
    /// [`Store`](crate::ErrorKind::Checkpoint).
    ///
    /// # Cancel safety
    /// A dropped call has read nothing: the next one gives the same page.
    pub async fn next_page(&mut self) -> Result<Option<Vec<UnfinishedThread<S, D>>>, Error> {
        if self.ended {
            return Ok(None);
        }
        let query = ThreadQuery { limit: Some(PAGE), ..self.query.clone() };
        let page = self.graph.threads(query).await?;
        let mut threads = Vec::new();
        for record in &page.items {
            let thread = self.graph.thread(Arc::clone(&record.thread));
            let left = match look(&thread).await {
                Ok(left) => left,
                Err(error) => Some(unreadable(thread, error)),
            };
            threads.extend(left.filter(|left| self.due.is_none_or(|now| left.is_due(now))));
        }
        if let Some(last) = page.items.last() {
            self.query.after = Some(Arc::clone(&last.thread));
        }
        self.ended = !page.more || page.items.is_empty();
        Ok(Some(threads))
    }
}

impl<S: GraphState, D> UnfinishedThread<S, D> {
    /// Whether nobody is at it, and its time has come.
    fn is_due(&self, now: SystemTime) -> bool {
        let rests = matches!(
            self.status,
            ThreadStatus::WaitingForTime | ThreadStatus::WaitingForAnswer(_) | ThreadStatus::Stopped
        );
        rests && self.wakes_at.is_some_and(|time| time <= now)
    }
}

impl<S: GraphState, D: Send + Sync + 'static> IntoFuture for Unfinished<S, D> {
    type Output = Result<Vec<UnfinishedThread<S, D>>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(mut self) -> Self::IntoFuture {
        Box::pin(async move {
            let mut all = Vec::new();
            while let Some(page) = self.next_page().await? {
                all.extend(page);
            }
            Ok(all)
        })
    }
}

fn unreadable<S: GraphState, D>(thread: Thread<S, D>, error: Error) -> UnfinishedThread<S, D> {
    let status = ThreadStatus::Unreadable(error);
    UnfinishedThread { thread, checkpoint: None, run_id: None, next: Vec::new(), status, wakes_at: None }
}

/// Reads what a thread waits for; nothing, if it has been finished meanwhile.
async fn look<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
) -> Result<Option<UnfinishedThread<S, D>>, Error> {
    let Some(stored) = read(thread, None).await?.found else { return Ok(None) };
    let StoredCheckpoint { checkpoint, records, .. } = stored;
    let tasks = read_tasks::<S, D>(&thread.graph.0.graph.0, &thread.name, &checkpoint, &records);
    let tasks = tasks.map_err(|kind| thread.graph.refuse(kind))?;
    if tasks.is_empty() {
        return Ok(None);
    }
    let next = tasks.iter().map(|(node, _)| Arc::clone(node)).collect();
    let stopped = read_stopped(&records);
    let (mut questions, mut failures, mut wakes_at) = (Vec::new(), Vec::new(), None);
    for (index, (node, known)) in tasks.into_iter().enumerate() {
        if known.result.is_some() {
            continue;
        }
        let later = known.sleeps.iter().filter_map(|&(_, millis)| clock::from_millis(millis));
        let retry_at = known.failure.as_ref().and_then(StoredFailure::retry_at);
        let later = later.chain(retry_at);
        wakes_at = wakes_at.into_iter().chain(later.filter(|time| *time > clock::now())).min();
        // A question that is open is newer than how its task failed before.
        if known.questions.is_empty() && retry_at.is_none() {
            failures.extend(known.failure.map(TaskError::from));
        }
        questions.extend(known.questions.into_iter().map(|(id, question)| question.open(id, &node, index)));
    }
    let gate = read_gate(&records).filter(Gate::stands);
    let status = match (&stopped, gate) {
        (Some(stopped), _) if stopped.told => ThreadStatus::Stopped,
        (Some(_), _) if questions.is_empty() => ThreadStatus::WaitingForTime,
        _ if !failures.is_empty() => ThreadStatus::Failed(failures),
        _ if !questions.is_empty() => ThreadStatus::WaitingForAnswer(questions),
        (_, Some(gate)) => ThreadStatus::AtBreakpoint { before: gate.before, after: gate.after },
        _ => ThreadStatus::Running,
    };
    // Whoever has stopped has said when it goes on.
    let wakes_at = stopped.map_or(wakes_at, |stopped| stopped.wakes_at());
    let wakes_at = if matches!(status, ThreadStatus::Failed(_)) { None } else { wakes_at };
    Ok(Some(UnfinishedThread {
        thread: thread.clone(),
        checkpoint: Some(checkpoint.id),
        run_id: Some(Arc::clone(&checkpoint.run.id)),
        next,
        status,
        wakes_at,
    }))
}
