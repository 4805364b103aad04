//! Lists of threads by their stored status.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};
use superstep::checkpoint::{
    Checkpoint, CheckpointError, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, HistoryEntry,
    Loaded, NamespaceQuery, NamespaceRecord, Page, Prune, Pruned, StatusKind, ThreadQuery, ThreadRecord,
    WriteBatch,
};
use superstep::interrupt::Question;
use superstep::policy::{Policy, Retry};
use superstep::run::Stop;
use superstep::thread::{PersistentGraph, Thread, ThreadStatus, as_node};
use superstep::{ContextWith, Durability, END, ErrorKind, Graph, GraphState, NodeError, START, StateGraph};

use super::stores::{TestStore, on_every_store};

const HOUR: Duration = Duration::from_secs(60 * 60);
const MODES: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

#[derive(GraphState, Clone, Debug)]
struct Ticket {
    #[state(input)]
    does: String,
    rounds: u32,
    other: u32,
    #[state(reducer = append)]
    log: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Approve;

impl Question for Approve {
    type Answer = bool;
}

/// `true` once the nodes that failed work.
type Works = AtomicBool;

async fn work(ticket: &Ticket, cx: &ContextWith<Works>) -> Result<TicketUpdate, NodeError> {
    let works = cx.context().load(Ordering::Relaxed);
    match ticket.does.as_str() {
        "asks" => {
            cx.interrupt(Approve).await;
        }
        "asks until" => {
            tokio::select! {
                _ = cx.interrupt(Approve) => {}
                () = cx.sleep(HOUR) => {}
            }
        }
        "asks beside" => {
            tokio::join!(cx.interrupt(Approve), cx.sleep(2 * HOUR));
        }
        "fails" if !works => return Err(NodeError::msg("no power")),
        "retries" if !works => return Err(NodeError::msg("retry later")),
        "sleeps" => cx.sleep(HOUR).await,
        "hangs" if !works => pending().await,
        _ => {}
    }
    Ok(Ticket::update().rounds(ticket.rounds + 1))
}

async fn beside(ticket: &Ticket) -> TicketUpdate {
    match ticket.does.as_str() {
        "collides" => Ticket::update().rounds(7_u32),
        _ => Ticket::update().log(["beside".to_owned()]),
    }
}

async fn last(_: &Ticket) -> TicketUpdate {
    Ticket::update().log(["last".to_owned()])
}

fn graph() -> Graph<Ticket, Works> {
    let retry = Retry::attempts(9).backoff(HOUR);
    let retry = retry.when_failure(|failure| failure.error.to_string().contains("retry"));
    StateGraph::<Ticket>::with_context::<Works>()
        .edge(START, (work, beside))
        .join((work, beside), last)
        .edge(last, END)
        .policy(work, Policy::new().retry(retry))
        .compile()
        .unwrap()
}

/// Returns the stored status of each thread: its name, its kind, and `+time` if it wakes by itself.
async fn stored(graph: &PersistentGraph<Ticket, Works>) -> Vec<String> {
    let page = graph.threads(ThreadQuery::new()).await.unwrap();
    let line = |record: ThreadRecord| {
        let time = if record.status.wakes_at.is_some() { "+time" } else { "" };
        format!("{}: {:?}{time}", record.thread, record.status.kind)
    };
    page.items.into_iter().map(line).collect()
}

fn describe(status: &ThreadStatus) -> String {
    match status {
        ThreadStatus::WaitingForAnswer(questions) => format!("{} questions", questions.len()),
        ThreadStatus::AtBreakpoint { before, .. } => format!("before {}", before.join("+")),
        ThreadStatus::Failed(errors) => {
            format!("failed: {}", errors.iter().map(|error| &*error.text).collect::<Vec<_>>().join("+"))
        }
        ThreadStatus::Unreadable(_) => "unreadable".to_owned(),
        other => format!("{other:?}"),
    }
}

async fn listed(graph: &PersistentGraph<Ticket, Works>) -> Vec<String> {
    let unfinished = graph.unfinished().await.unwrap();
    unfinished.iter().map(|left| format!("{}: {}", left.thread.name(), describe(&left.status))).collect()
}

/// Runs a thread of each status. No run is active afterwards.
async fn one_of_each(graph: &PersistentGraph<Ticket, Works>, mode: Durability) {
    let works = Arc::new(Works::default());
    let run = |does: &str| {
        let run = graph.thread(does).run(Ticket::input(does)).durability(mode);
        run.suspend_sleeps_longer_than(Duration::from_secs(1))
    };
    for does in ["asks", "asks beside", "asks until", "ends", "retries", "sleeps"] {
        run(does).context(Arc::clone(&works)).await.unwrap();
    }
    run("breaks").interrupt_before(last).context(Arc::clone(&works)).await.unwrap();
    run("fails").context(Arc::clone(&works)).await.unwrap_err();
    let error = run("collides").context(Arc::clone(&works)).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WriteConflict { .. }), "{error}");
    let error = run("limit").recursion_limit(1).context(Arc::clone(&works)).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::RecursionLimit { .. }), "{error}");
    let slow = run("hangs").superstep_timeout(Duration::from_millis(20)).context(Arc::clone(&works));
    assert!(matches!(slow.await.unwrap_err().kind(), ErrorKind::SuperstepTimeout { .. }));
    let stop = Stop::new();
    stop.drain();
    run("stops").stop_by(&stop).context(Arc::clone(&works)).await.unwrap();
    let mut late =
        run("cancelled").stop_by(&stop).context(Arc::clone(&works)).start().await.unwrap().unwrap();
    stop.cancel();
    late.step().await.unwrap_err();
    drop(run("dropped").on_conflict(superstep::thread::OnConflict::Wait(HOUR)).context(works).start().await);
}

#[tokio::test]
async fn status_is_stored_when_a_run_stops() {
    on_every_store(async |store| {
        for mode in MODES {
            let graph = graph().with_checkpointer(store.open());
            one_of_each(&graph, mode).await;
            // Another process lists them.
            let graph = self::graph().with_checkpointer(store.open());
            assert_eq!(
                stored(&graph).await,
                [
                    "asks: WaitingForAnswer",
                    "asks beside: WaitingForAnswer+time",
                    "asks until: WaitingForAnswer+time",
                    "breaks: AtBreakpoint",
                    "cancelled: Stopped",
                    "collides: Failed",
                    "dropped: Running",
                    "ends: Finished",
                    "fails: Failed",
                    "hangs: AtLimit",
                    "limit: AtLimit",
                    "retries: WaitingForTime+time",
                    "sleeps: WaitingForTime+time",
                    "stops: Stopped",
                ],
                "{mode:?}"
            );
            assert_eq!(
                listed(&graph).await,
                [
                    "asks: 1 questions",
                    "asks beside: 1 questions",
                    "asks until: 1 questions",
                    "breaks: before last",
                    "cancelled: Stopped",
                    "collides: failed: ",
                    "dropped: Running",
                    "fails: failed: no power",
                    "hangs: AtLimit",
                    "limit: AtLimit",
                    "retries: WaitingForTime",
                    "sleeps: WaitingForTime",
                    "stops: Stopped",
                ],
                "{mode:?}"
            );
            let due = async |time| {
                let due = graph.due(time).await.unwrap();
                due.iter().map(|left| left.thread.name().to_owned()).collect::<Vec<_>>()
            };
            assert!(due(SystemTime::now()).await.is_empty());
            let mut later = due(SystemTime::now() + HOUR + Duration::from_secs(60)).await;
            later.sort();
            assert_eq!(later, ["asks until", "retries", "sleeps"]);
            assert_eq!(due(SystemTime::now() + 3 * HOUR).await.last().unwrap(), "asks beside");
            for left in graph.unfinished().await.unwrap() {
                left.thread.delete().await.unwrap();
            }
            graph.thread("ends").delete().await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn status_after_a_roll_back_is_that_of_the_run_which_stopped_there() {
    on_every_store(async |store| {
        let graph = graph().with_checkpointer(store.open());
        one_of_each(&graph, Durability::Sync).await;
        let before = stored(&graph).await;
        let names = before.iter().filter_map(|line| line.split(": ").next());
        for name in names.filter(|name| *name != "collides") {
            let thread = graph.thread(name);
            let head = thread.state().await.unwrap().unwrap().id;
            thread.update(Ticket::update(), as_node(END)).context(Arc::default()).await.unwrap();
            assert_eq!(thread.roll_back_to(head).await.unwrap(), Some(head));
        }
        // The records of a checkpoint do not tell a limit from a crash.
        let after = before.iter().map(|line| match line.split_once(": ") {
            Some((name @ ("hangs" | "limit"), _)) => format!("{name}: Running"),
            _ => line.clone(),
        });
        assert_eq!(stored(&graph).await, after.collect::<Vec<_>>());
    })
    .await;
}

/// Returns the stored status of thread `t`.
async fn kind(thread: &Thread<Ticket, Works>, graph: &PersistentGraph<Ticket, Works>) -> StatusKind {
    let loaded = graph.checkpointer().get(thread.name(), "", None).await.unwrap();
    assert!(loaded.status.wakes_at.is_none());
    loaded.status.kind
}

#[tokio::test]
async fn status_follows_every_kind_of_write() {
    on_every_store(async |store| {
        for mode in MODES {
            let works = Arc::new(Works::default());
            let graph = graph().with_checkpointer(store.open());
            let thread = graph.thread("t");
            let kind = async || kind(&thread, &graph).await;
            let run = |does: &str| thread.run(Ticket::input(does)).durability(mode).abandon_pending();
            run("asks").context(Arc::clone(&works)).await.unwrap();
            assert_eq!(kind().await, StatusKind::WaitingForAnswer, "{mode:?}");
            // A resumption that takes over and dies.
            drop(thread.resume(()).context(Arc::clone(&works)).start().await.unwrap().unwrap());
            assert_eq!(kind().await, StatusKind::Running, "{mode:?}");
            let again = thread.resume(()).durability(mode).context(Arc::clone(&works)).await.unwrap();
            assert_eq!(kind().await, StatusKind::WaitingForAnswer, "{mode:?}");
            let question = again.pause().unwrap().only::<Approve>().unwrap();
            thread.resume(question.answer(true)).durability(mode).context(Arc::clone(&works)).await.unwrap();
            assert_eq!(kind().await, StatusKind::Finished, "{mode:?}");
            // A failed run is replaced by a new input.
            run("fails").context(Arc::clone(&works)).await.unwrap_err();
            assert_eq!(kind().await, StatusKind::Failed, "{mode:?}");
            run("ends").context(Arc::clone(&works)).await.unwrap();
            assert_eq!(kind().await, StatusKind::Finished, "{mode:?}");
            // An update plans a node, and another one ends the thread.
            let first =
                thread.update(Ticket::update(), as_node(last)).context(Arc::clone(&works)).await.unwrap();
            assert_eq!(kind().await, StatusKind::Finished, "{mode:?}");
            thread.update(Ticket::update(), as_node(START)).context(Arc::clone(&works)).await.unwrap();
            assert_eq!(kind().await, StatusKind::Running, "{mode:?}");
            assert_eq!(listed(&graph).await, ["t: Running"]);
            thread.update(Ticket::update(), as_node(END)).context(Arc::clone(&works)).await.unwrap();
            assert_eq!(kind().await, StatusKind::Finished, "{mode:?}");
            // A join that waits for one of its sources.
            thread.update(Ticket::update(), as_node(work)).context(Arc::clone(&works)).await.unwrap();
            assert_eq!(kind().await, StatusKind::Failed, "{mode:?}");
            assert_eq!(listed(&graph).await, ["t: failed: "]);
            thread.resume(()).durability(mode).context(Arc::clone(&works)).await.unwrap_err();
            assert_eq!(kind().await, StatusKind::Failed, "{mode:?}");
            thread.update(Ticket::update(), as_node(beside)).context(Arc::clone(&works)).await.unwrap();
            assert_eq!(kind().await, StatusKind::Running, "{mode:?}");
            thread.resume(()).durability(mode).context(Arc::clone(&works)).await.unwrap();
            assert_eq!(kind().await, StatusKind::Finished, "{mode:?}");
            // A replay of the last node, on a new branch.
            let before_last = thread.history().await.unwrap();
            let before_last = before_last.iter().find(|snapshot| !snapshot.next.is_empty()).unwrap();
            let replay = thread.at(before_last.id).run_again().durability(mode).context(Arc::clone(&works));
            drop(replay.start().await.unwrap().unwrap());
            assert_eq!(kind().await, StatusKind::Running, "{mode:?}");
            let replay = thread.at(before_last.id).run_again().durability(mode);
            replay.context(Arc::clone(&works)).await.unwrap();
            assert_eq!(kind().await, StatusKind::Finished, "{mode:?}");
            // A copy has the status of its original.
            thread.at(first).run_again().context(Arc::clone(&works)).await.unwrap();
            run("fails").context(Arc::clone(&works)).await.unwrap_err();
            graph.checkpointer().copy("t", "u", None).await.unwrap();
            assert_eq!(stored(&graph).await, ["t: Failed", "u: Failed"]);
            for name in ["t", "u"] {
                graph.thread(name).delete().await.unwrap();
            }
        }
    })
    .await;
}

#[tokio::test]
async fn stepper_that_continues_marks_the_thread_as_running() {
    on_every_store(async |store| {
        for mode in MODES {
            let works = Arc::new(Works::default());
            let graph = graph().with_checkpointer(store.open());
            let thread = graph.thread("t");
            let run = thread.run(Ticket::input("asks")).durability(mode).context(works);
            let mut run = run.start().await.unwrap().unwrap();
            assert!(!run.step().await.unwrap());
            assert_eq!(kind(&thread, &graph).await, StatusKind::WaitingForAnswer, "{mode:?}");
            let question = run.pause().unwrap().only::<Approve>().unwrap();
            run.answer([question.answer(true)]).unwrap();
            assert!(run.step().await.unwrap());
            drop(run);
            assert_eq!(kind(&thread, &graph).await, StatusKind::Running, "{mode:?}");
            thread.delete().await.unwrap();
        }
    })
    .await;
}

/// Counts the reads of a store, and the threads that its lists return.
#[derive(Clone)]
pub(super) struct Counted {
    store: Arc<dyn Checkpointer>,
    lists: Arc<AtomicUsize>,
    listed: Arc<AtomicUsize>,
    reads: Arc<AtomicUsize>,
    /// The store is out of reach for the thread with this name.
    unreachable: Option<&'static str>,
    /// Writes no status, as older programs did.
    is_old: bool,
}

impl Counted {
    pub(super) fn new(store: &TestStore) -> Self {
        let (lists, listed, reads) = Default::default();
        Self { store: store.open(), lists, listed, reads, unreachable: None, is_old: false }
    }

    /// Returns the numbers of lists, of listed threads and of reads since the last call.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        let take = |count: &AtomicUsize| count.swap(0, Ordering::SeqCst);
        (take(&self.lists), take(&self.listed), take(&self.reads))
    }
}

impl Checkpointer for Counted {
    fn commit(&self, mut batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        batch.status = batch.status.filter(|_| !self.is_old);
        self.store.commit(batch)
    }

    fn get(&self, thread: &str, namespace: &str, at: Option<CheckpointId>) -> CheckpointFuture<'_, Loaded> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        if self.unreachable == Some(thread) {
            let error = CheckpointError::backend("read a checkpoint", "the cable was pulled");
            return Box::pin(async move { Err(error) });
        }
        self.store.get(thread, namespace, at)
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.store.list(query)
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.store.history(query)
    }

    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.store.namespaces(query)
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        Box::pin(async move {
            let page = self.store.threads(query).await?;
            self.lists.fetch_add(1, Ordering::SeqCst);
            self.listed.fetch_add(page.items.len(), Ordering::SeqCst);
            Ok(page)
        })
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        self.store.delete(thread, epoch)
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        self.store.copy(from, to, epoch)
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        self.store.prune(prune)
    }
}

/// Returns the shortest of several durations.
async fn fastest(work: impl AsyncFn()) -> Duration {
    let mut best = Duration::MAX;
    for _ in 0..7 {
        let begun = Instant::now();
        work().await;
        best = best.min(begun.elapsed());
    }
    best
}

/// Adds copies of a thread until there are `count`.
async fn copies(store: &Counted, of: &str, from: usize, count: usize) {
    for number in from..count {
        store.copy(of, &format!("{of} {number:05}"), None).await.unwrap();
    }
}

#[tokio::test]
async fn lists_cost_nothing_for_threads_that_they_omit() {
    on_every_store(async |store| {
        let counted = Counted::new(store);
        let graph = graph().with_checkpointer(counted.clone());
        let works = Arc::new(Works::default());
        for does in ["ends", "asks until"] {
            graph.thread(does).run(Ticket::input(does)).context(Arc::clone(&works)).await.unwrap();
        }
        let (mut before, mut durations) = (0, Vec::new());
        for count in [200, 400, 2_000] {
            copies(&counted, "ends", before, count).await;
            copies(&counted, "asks until", before, count).await;
            before = count;
            counted.counts();
            let none_due = async || assert!(graph.due(SystemTime::now()).await.unwrap().is_empty());
            none_due().await;
            assert_eq!(counted.counts(), (1, 0, 0), "{count} threads wait, and none is due");
            let mut unfinished = graph.unfinished();
            assert_eq!(unfinished.next_page().await.unwrap().unwrap().len(), 64);
            let (lists, listed, reads) = counted.counts();
            assert_eq!((lists, listed, reads), (1, 64, 64), "{count}");
            durations.push(fastest(none_due).await);
        }
        println!("{store:?}: none of 200, 400 and 2,000 is due: {durations:?}");
        assert!(durations[2] < durations[0] * 4 + Duration::from_millis(2), "{durations:?}");
    })
    .await;
}

/// Creates a store with this number of threads, all due.
async fn with_due_threads(store: &TestStore, count: usize) -> (Counted, PersistentGraph<Ticket, Works>) {
    let counted = Counted::new(store);
    let graph = graph().with_checkpointer(counted.clone());
    graph.thread("due").run(Ticket::input("asks until")).context(Works::default()).await.unwrap();
    copies(&counted, "due", 1, count).await;
    (counted, graph)
}

#[tokio::test]
async fn lists_cost_in_proportion_to_their_threads() {
    const COUNT: usize = 400;
    let later = SystemTime::now() + 2 * HOUR;
    for stores in [[TestStore::memory(), TestStore::memory()], [TestStore::file(), TestStore::file()]] {
        let [once, twice] = &stores;
        let all = [with_due_threads(once, COUNT).await, with_due_threads(twice, 2 * COUNT).await];
        for (index, (counted, graph)) in all.iter().enumerate() {
            let count = COUNT * (index + 1);
            counted.counts();
            assert_eq!(graph.unfinished().await.unwrap().len(), count);
            assert_eq!(counted.counts(), (count.div_ceil(64), count, count));
            assert_eq!(graph.due(later).await.unwrap().len(), count);
            assert_eq!(counted.counts(), (count.div_ceil(64), count, count));
        }
        // Other tests disturb the measurement, so the shortest of many durations counts.
        let mut best = [[Duration::MAX; 2]; 2];
        let is_linear = |best: &[[Duration; 2]; 2]| {
            best[0].iter().zip(best[1]).all(|(once, twice)| twice.as_secs_f64() < 2.6 * once.as_secs_f64())
        };
        let mut rounds = 0;
        while rounds < 5 || (rounds < 60 && !is_linear(&best)) {
            rounds += 1;
            for ((_, graph), best) in all.iter().zip(&mut best) {
                let begun = Instant::now();
                drop(graph.unfinished().await.unwrap());
                best[0] = best[0].min(begun.elapsed());
                let begun = Instant::now();
                drop(graph.due(later).await.unwrap());
                best[1] = best[1].min(begun.elapsed());
            }
        }
        println!("{COUNT} and {} threads of {once:?}: {best:?} after {rounds} rounds", 2 * COUNT);
        assert!(is_linear(&best), "{best:?}");
    }
}

/// The program after a change: the node `work` is gone.
async fn renamed(_: &Ticket, cx: &ContextWith<Works>) -> TicketUpdate {
    cx.sleep(HOUR).await;
    Ticket::update().rounds(1_u32)
}

/// The state after a change without a migration.
#[derive(GraphState, Clone, Debug)]
struct Changed {
    #[state(input)]
    does: u32,
    rounds: String,
}

async fn work_on_changed(_: &Changed, cx: &ContextWith<Works>) -> ChangedUpdate {
    cx.sleep(HOUR).await;
    Changed::update().rounds("1".to_owned())
}

/// Puts threads that the graph cannot read between two that it can. All of them sleep.
async fn mixed(store: &TestStore) -> Arc<Works> {
    let works = Arc::new(Works::default());
    let limit = Duration::from_secs(1);
    let good = graph().with_checkpointer(store.open());
    for name in ["a", "z"] {
        let run = good.thread(name).run(Ticket::input("sleeps")).suspend_sleeps_longer_than(limit);
        run.context(Arc::clone(&works)).await.unwrap();
    }
    let other = StateGraph::<Ticket>::with_context::<Works>().edge(START, renamed).edge(renamed, END);
    let other = other.compile().unwrap().with_checkpointer(store.open());
    let run = other.thread("removed node").run(Ticket::input("x")).suspend_sleeps_longer_than(limit);
    run.context(Arc::clone(&works)).await.unwrap();
    let other = StateGraph::<Changed>::with_context::<Works>();
    let other = other.edge(START, work_on_changed).edge(work_on_changed, END).compile().unwrap();
    let other = other.with_checkpointer(store.open());
    let run = other.thread("changed state").run(Changed::input(5_u32)).suspend_sleeps_longer_than(limit);
    run.context(Arc::clone(&works)).await.unwrap();
    works
}

#[tokio::test]
async fn unreadable_threads_are_listed_with_their_errors() {
    on_every_store(async |store| {
        let works = mixed(store).await;
        let graph = graph().with_checkpointer(store.open());
        let later = SystemTime::now() + 2 * HOUR;
        for list in [graph.unfinished(), graph.due(later)] {
            let mut unreadable = Vec::new();
            let mut readable = Vec::new();
            for left in list.await.unwrap() {
                let name = left.thread.name().to_owned();
                assert!(left.checkpoint.is_some() && left.run_id.is_some() && !left.next.is_empty());
                let ThreadStatus::Unreadable(error) = left.status else {
                    readable.push(name);
                    continue;
                };
                // A resumption would have failed with the same error.
                let refused = left.thread.resume(()).context(Arc::clone(&works)).await.unwrap_err();
                assert_eq!(refused.to_string(), error.to_string());
                unreadable.push(name);
            }
            unreadable.sort();
            assert_eq!(unreadable, ["changed state", "removed node"]);
            readable.sort();
            assert_eq!(readable, ["a", "z"]);
        }
    })
    .await;
}

#[tokio::test]
async fn unreachable_store_fails_the_list() {
    let store = TestStore::memory();
    mixed(&store).await;
    let mut counted = Counted::new(&store);
    counted.unreachable = Some("a");
    let mut list = graph().with_checkpointer(counted.clone()).unfinished();
    for _ in 0..2 {
        let error = list.next_page().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Checkpoint(_)), "{error}");
    }
}

#[tokio::test]
async fn threads_of_older_programs_are_found() {
    on_every_store(async |store| {
        let old = Counted { is_old: true, ..Counted::new(store) };
        one_of_each(&graph().with_checkpointer(old), Durability::Async).await;
        let graph = graph().with_checkpointer(store.open());
        assert!(stored(&graph).await.iter().all(|line| line.ends_with(": Unknown")));
        assert_eq!(
            listed(&graph).await,
            [
                "asks: 1 questions",
                "asks beside: 1 questions",
                "asks until: 1 questions",
                "breaks: before last",
                "cancelled: Stopped",
                // Their records do not tell these from a run that has crashed.
                "collides: Running",
                "dropped: Running",
                "fails: failed: no power",
                "hangs: Running",
                "limit: Running",
                "retries: WaitingForTime",
                "sleeps: WaitingForTime",
                "stops: Stopped",
            ]
        );
        let due = graph.due(SystemTime::now() + HOUR + Duration::from_secs(60)).await.unwrap();
        let due: Vec<_> = due.iter().map(|left| left.thread.name()).collect();
        assert_eq!(due, ["asks until", "retries", "sleeps"]);
        // The next run of a thread stores its status.
        let works = Arc::new(Works::new(true));
        graph.thread("fails").resume(()).context(works).await.unwrap();
        assert!(stored(&graph).await.contains(&"fails: Finished".to_owned()));
    })
    .await;
}
