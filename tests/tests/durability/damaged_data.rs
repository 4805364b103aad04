//! Stored data that cannot be read is an error that names it. It never counts as missing. Numbers at the end of their range
//! do not overflow.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::checkpoint::{
    Checkpoint, CheckpointError, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer,
    CorruptCheckpoint, HistoryEntry, Loaded, MemoryCheckpointer, NamespaceQuery, NamespaceRecord, Page,
    Prune, Pruned, RecordKind, RunRecord, ThreadQuery, ThreadRecord, WriteBatch,
};
use superstep::interrupt::{Answer, Question};
use superstep::payload::Payload;
use superstep::policy::{Policy, Retry};
use superstep::state::{MigrationError, Stored};
use superstep::subgraph::{CallResult, Mapped, Subgraph};
use superstep::thread::{PersistentGraph, Snapshot, Thread, ThreadStatus, as_node};
use superstep::{
    Context, END, Error, ErrorKind, FailureMode, Graph, GraphState, NodeError, Route, START, StateGraph,
};

/// The data that a [`DamagedStore`] changes when it is read.
#[derive(Clone, Copy)]
enum Damage {
    Breakpoints,
    Stopped,
    /// The plans of the thread itself.
    RootPlan,
    /// The plans of subgraph calls.
    Plan,
    Program,
    /// The number of attempts of failed tasks is the greatest one.
    Attempts,
    /// The step number of each checkpoint is the greatest one.
    Steps,
    /// The questions that were answered.
    Answered,
}

/// JSON of another form than any that the engine stores. An error must not quote it.
const DAMAGED: &str = "\"4711\"";

/// A store that returns damaged data.
#[derive(Clone)]
struct DamagedStore {
    inner: MemoryCheckpointer,
    damage: Damage,
}

impl DamagedStore {
    fn damage_checkpoint(&self, namespace: &str, checkpoint: &mut Checkpoint) {
        match self.damage {
            Damage::RootPlan if namespace.is_empty() && checkpoint.progress.is_some() => {
                checkpoint.progress = Some(Payload::json(DAMAGED));
            }
            Damage::Plan if !namespace.is_empty() && checkpoint.progress.is_some() => {
                checkpoint.progress = Some(Payload::json(DAMAGED));
            }
            Damage::Program => {
                let run = &checkpoint.run;
                let damaged = RunRecord::new(Arc::clone(&run.id), DAMAGED).metadata(run.metadata.clone());
                checkpoint.run = Arc::new(damaged);
            }
            Damage::Steps => checkpoint.step = i64::MAX,
            _ => {}
        }
    }

    fn damage_records(&self, loaded: &mut Loaded) {
        let records = loaded.found.iter().flat_map(|found| &found.records);
        let answers = records.filter(|record| record.key.kind == RecordKind::Answer);
        let answered: Vec<_> = answers.map(|record| Arc::clone(&record.key.key)).collect();
        for record in loaded.found.iter_mut().flat_map(|found| &mut found.records) {
            match (self.damage, record.key.kind) {
                (Damage::Breakpoints, RecordKind::Breakpoint) | (Damage::Stopped, RecordKind::Stopped) => {
                    record.payload = Payload::json(DAMAGED);
                }
                (Damage::Answered, RecordKind::Interrupt) if answered.contains(&record.key.key) => {
                    record.payload = Payload::json(DAMAGED);
                }
                (Damage::Attempts, RecordKind::Failed) => {
                    let mut failure: serde_json::Value =
                        serde_json::from_slice(record.payload.bytes()).unwrap();
                    failure["attempt"] = u32::MAX.into();
                    record.payload = Payload::json(failure.to_string());
                }
                _ => {}
            }
        }
    }
}

impl Checkpointer for DamagedStore {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        self.inner.commit(batch)
    }

    fn get(
        &self,
        thread: &str,
        namespace: &str,
        checkpoint: Option<CheckpointId>,
    ) -> CheckpointFuture<'_, Loaded> {
        let (thread, namespace) = (thread.to_owned(), namespace.to_owned());
        Box::pin(async move {
            let mut loaded = self.inner.get(&thread, &namespace, checkpoint).await?;
            if let Some(found) = &mut loaded.found {
                self.damage_checkpoint(&namespace, &mut found.checkpoint);
            }
            self.damage_records(&mut loaded);
            Ok(loaded)
        })
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        Box::pin(async move {
            let namespace = query.namespace.to_string();
            let mut page = self.inner.list(query).await?;
            page.items.iter_mut().for_each(|item| self.damage_checkpoint(&namespace, item));
            Ok(page)
        })
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        Box::pin(async move {
            let namespace = query.namespace.to_string();
            let mut page = self.inner.history(query).await?;
            for item in &mut page.items {
                self.damage_checkpoint(&namespace, &mut item.checkpoint);
            }
            Ok(page)
        })
    }

    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        self.inner.namespaces(query)
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        self.inner.threads(query)
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        self.inner.delete(thread, epoch)
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        self.inner.copy(from, to, epoch)
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        self.inner.prune(prune)
    }
}

/// A thread on a store in memory.
struct Case<S: GraphState> {
    graph: Graph<S>,
    inner: MemoryCheckpointer,
}

impl<S: GraphState> Case<S> {
    fn new(graph: Graph<S>) -> Self {
        Self { graph, inner: MemoryCheckpointer::new() }
    }

    fn thread(&self) -> Thread<S> {
        self.graph.with_checkpointer(self.inner.clone()).thread("t")
    }

    /// The thread with damaged data.
    fn damaged(&self, damage: Damage) -> Thread<S> {
        self.threads(damage).thread("t")
    }

    fn threads(&self, damage: Damage) -> PersistentGraph<S> {
        self.graph.with_checkpointer(DamagedStore { inner: self.inner.clone(), damage })
    }

    async fn assert_unchanged(&self, head: &Snapshot<S>) {
        assert_eq!(self.thread().state().await.unwrap().unwrap().id, head.id, "nothing was written");
    }
}

/// Finds the unreadable data in an error and its causes.
fn corrupt(error: &Error) -> &CorruptCheckpoint {
    let mut cause: &(dyn std::error::Error + 'static) = error;
    loop {
        let kind = cause.downcast_ref::<Error>().map(Error::kind);
        if let Some(ErrorKind::Checkpoint(source)) = kind {
            let CheckpointError::Corrupt(corrupt) = &**source else { panic!("{error:?}") };
            return corrupt;
        }
        if let Some(CheckpointError::Corrupt(corrupt)) = cause.downcast_ref() {
            return corrupt;
        }
        cause = cause.source().unwrap_or_else(|| panic!("{error:?}"));
    }
}

/// Checks that a call has failed because this data of the thread cannot be read.
#[track_caller]
fn assert_corrupt<T>(result: Result<T, Error>, part: &str) {
    let Err(error) = result else { panic!("{part} was taken as missing") };
    let corrupt = corrupt(&error);
    assert_eq!((&*corrupt.thread, corrupt.part.as_str()), ("t", part));
    assert!(corrupt.checkpoint.is_some() && !corrupt.reason.is_empty(), "{corrupt:?}");
    assert!(!format!("{error:?}").contains("4711"), "{error:?}");
}

/// Checks that the thread is listed as unreadable.
async fn assert_listed<S: GraphState>(threads: &PersistentGraph<S>, part: &str) {
    let mut listed = threads.unfinished().await.unwrap();
    let status = listed.remove(0).status;
    let ThreadStatus::Unreadable(error) = status else { panic!("{status:?}") };
    assert_corrupt(Err::<(), _>(error), part);
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Trip {
    #[state(reducer = append)]
    log: Vec<String>,
}

async fn pack(_: &Trip) -> TripUpdate {
    Trip::update().log(["packed".to_owned()])
}

async fn leave(_: &Trip, cx: &Context) -> TripUpdate {
    cx.sleep(Duration::from_secs(3600)).await;
    Trip::update().log(["left".to_owned()])
}

fn trip() -> StateGraph<Trip> {
    StateGraph::<Trip>::new().edge(START, pack).edge(pack, leave).edge(leave, END)
}

#[tokio::test]
async fn unreadable_breakpoints_are_an_error() {
    let case = Case::new(trip().interrupt_before(leave).compile().unwrap());
    let outcome = case.thread().run(Trip::input()).run_id("once").await.unwrap();
    assert_eq!(outcome.pause().unwrap().before(), ["leave"]);
    let head = case.thread().state().await.unwrap().unwrap();
    let thread = case.damaged(Damage::Breakpoints);
    assert_corrupt(thread.interrupts().await, "the breakpoints");
    assert_corrupt(thread.resume(()).await, "the breakpoints");
    assert_corrupt(thread.run(Trip::input()).run_id("once").await, "the breakpoints");
    assert_listed(&case.threads(Damage::Breakpoints), "the breakpoints").await;
    case.assert_unchanged(&head).await;
}

#[tokio::test]
async fn unreadable_reason_of_a_stop_is_an_error() {
    let case = Case::new(trip().compile().unwrap());
    let run = case.thread().run(Trip::input()).run_id("once");
    let outcome = run.suspend_sleeps_longer_than(Duration::ZERO).await.unwrap();
    assert!(outcome.pause().unwrap().wakes_at().is_some());
    let head = case.thread().state().await.unwrap().unwrap();
    let thread = case.damaged(Damage::Stopped);
    assert_corrupt(thread.interrupts().await, "the reason of the stop");
    assert_corrupt(thread.resume(()).await, "the reason of the stop");
    assert_corrupt(thread.run(Trip::input()).run_id("once").await, "the reason of the stop");
    assert_listed(&case.threads(Damage::Stopped), "the reason of the stop").await;
    case.assert_unchanged(&head).await;
}

#[derive(Serialize, Deserialize)]
struct Sure;

impl Question for Sure {
    type Answer = bool;
}

async fn ask(trip: &Trip, cx: &Context) -> TripUpdate {
    let sure = cx.interrupt(Sure).await;
    Trip::update().log([format!("{} {sure}", trip.log.len())])
}

type Call =
    Subgraph<Trip, (), Mapped<Trip, fn(&Trip) -> TripInput, fn(CallResult<Trip>) -> TripUpdate, TripUpdate>>;

/// A subgraph with its own state, and a graph that calls it.
fn calling(node: StateGraph<Trip>, keeps_state: bool) -> (Case<Trip>, Call) {
    let input: fn(&Trip) -> TripInput = |_| Trip::input();
    let output: fn(CallResult<Trip>) -> TripUpdate =
        |done| Trip::update().log(done.appended(|trip: &Trip| &trip.log).to_vec());
    let call = node.compile().unwrap().as_node("call").mapped(input, output);
    let call = if keeps_state { call.per_thread() } else { call };
    let graph = StateGraph::<Trip>::new().edge(START, &call).edge(&call, END);
    (Case::new(graph.compile().unwrap()), call)
}

#[derive(Route)]
enum Parcels {
    #[to(deliver)]
    Parcel(u32),
}

async fn send(_: &Trip) -> Vec<Parcels> {
    vec![Parcels::Parcel(1), Parcels::Parcel(2)]
}

async fn deliver(parcel: &u32, cx: &Context) -> TripUpdate {
    let sure = cx.interrupt(Sure).await;
    Trip::update().log([format!("{parcel} {sure}")])
}

#[tokio::test]
async fn unreadable_plan_of_a_thread_is_an_error() {
    let graph = StateGraph::<Trip>::new().edge(START, send).edge(deliver, END).compile().unwrap();
    let case = Case::new(graph);
    case.thread().run(Trip::input()).await.unwrap();
    let head = case.thread().state().await.unwrap().unwrap();
    let thread = case.damaged(Damage::RootPlan);
    assert_corrupt(thread.state().await, "the plan");
    assert_corrupt(thread.history().await, "the plan");
    assert_corrupt(thread.resume(()).await, "the plan");
    assert_corrupt(thread.run(Trip::input()).abandon_pending().await, "the plan");
    assert_corrupt(thread.update(Trip::update().log(["x".to_owned()]), as_node(END)).await, "the plan");
    case.assert_unchanged(&head).await;
}

#[tokio::test]
async fn unreadable_plan_after_an_update_is_an_error() {
    let case = Case::new(trip().compile().unwrap());
    let update = || Trip::update().log(["by hand".to_owned()]);
    case.thread().update(update(), as_node(pack)).await.unwrap();
    let head = case.thread().state().await.unwrap().unwrap();
    // The node that an update stood for is part of the stored plan.
    assert_corrupt(case.damaged(Damage::RootPlan).update(update(), None).await, "the plan");
    case.assert_unchanged(&head).await;
}

#[tokio::test]
async fn unreadable_plan_of_a_call_is_an_error() {
    let asking = || StateGraph::<Trip>::new().edge(START, ask).edge(ask, END);
    let (case, call) = calling(asking(), false);
    let outcome = case.thread().run(Trip::input()).await.unwrap();
    let answer: Vec<Answer> =
        outcome.pause().unwrap().interrupts().iter().map(|open| open.answer_json(json!(true))).collect();
    let intact = case.thread();
    let head = intact.state().await.unwrap().unwrap();
    let inner = intact.within(&call).state().await.unwrap().unwrap();
    let thread = case.damaged(Damage::Plan);
    let calls = thread.within(&call);
    assert_corrupt(calls.state().await, "the plan");
    assert_corrupt(calls.history().await, "the plan");
    assert_corrupt(calls.update(Trip::update(), as_node(ask)).await, "the plan");
    assert_corrupt(calls.at(inner.id).run_again().await, "the plan");
    assert_corrupt(thread.picture().await, "the plan");
    case.assert_unchanged(&head).await;
    assert_corrupt(thread.resume(answer.clone()).await, "the plan");
    assert_eq!(case.thread().resume(()).await.unwrap().state().log, ["0 true"]);
}

async fn ask_twice(_: &Trip, cx: &Context) -> TripUpdate {
    let sure = (cx.interrupt(Sure).keyed("first").await, cx.interrupt(Sure).keyed("second").await);
    Trip::update().log([format!("{sure:?}")])
}

#[tokio::test]
async fn unreadable_answered_question_hides_no_open_one() {
    let (case, _) = calling(StateGraph::<Trip>::new().edge(START, ask_twice).edge(ask_twice, END), false);
    let first = case.thread().run(Trip::input()).await.unwrap().pause().unwrap().interrupts()[0].clone();
    let second = case.thread().resume(first.answer_json(json!(true))).await.unwrap();
    let second = second.pause().unwrap().interrupts()[0].clone();
    let calls = case.damaged(Damage::Answered).calls(None).await.unwrap();
    let open: Vec<_> = calls.iter().flat_map(|call| &call.tasks).flat_map(|task| &task.interrupts).collect();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].id, second.id);
    assert!(case.damaged(Damage::Answered).resume(()).await.is_err(), "the answer cannot be delivered");
}

#[tokio::test]
async fn unreadable_plan_of_an_earlier_call_is_an_error() {
    async fn count(trip: &Trip) -> TripUpdate {
        Trip::update().log([trip.log.len().to_string()])
    }
    let counting = || StateGraph::<Trip>::new().edge(START, count).edge(count, END);
    let (case, call) = calling(counting(), true);
    case.thread().run(Trip::input()).await.unwrap();
    assert_corrupt(case.damaged(Damage::Plan).run(Trip::input()).await, "the plan");
    let done = case.thread().resume(()).await.unwrap();
    assert_eq!(done.state().log, ["0", "1"], "it continues from the earlier call");
    let calls = case.damaged(Damage::Plan);
    assert_corrupt(calls.within(&call).update(Trip::update(), None).await, "the plan");
}

#[tokio::test]
async fn unreadable_program_of_a_run_is_an_error() {
    #[derive(GraphState, Clone, Debug)]
    #[state(version = 2, migrate = migrate)]
    struct Price {
        #[state(input)]
        cents: u64,
    }
    fn migrate(from: u32, stored: &mut Stored) -> Result<(), MigrationError> {
        if from < 2 {
            stored.change("cents", |euros| Ok((euros.as_u64().unwrap_or_default() * 100).into()))?;
        }
        Ok(())
    }
    async fn check(_: &Price) -> PriceUpdate {
        Price::update()
    }
    let graph = StateGraph::<Price>::new().edge(START, check).edge(check, END).compile().unwrap();
    let case = Case::new(graph);
    case.thread().run(Price::input(5_u64)).run_id("once").await.unwrap();
    let thread = case.damaged(Damage::Program);
    assert_corrupt(thread.state().await, "the program of the run");
    assert_corrupt(thread.run(Price::input(7_u64)).run_id("once").await, "the program of the run");
    assert_corrupt(thread.history().await, "the program of the run");
}

/// Fails at the first attempt.
async fn retried(_: &Trip, cx: &Context) -> Result<TripUpdate, NodeError> {
    match cx.attempt() {
        1 => Err(NodeError::msg("the first attempt")),
        attempt => Ok(Trip::update().log([attempt.to_string()])),
    }
}

async fn failing(trip: &Trip, cx: &Context) -> Result<TripUpdate, NodeError> {
    retried(trip, cx).await
}

#[tokio::test]
async fn greatest_number_of_attempts_does_not_overflow() {
    let alone = StateGraph::<Trip>::new().edge(START, retried).edge(retried, END);
    let several =
        StateGraph::<Trip>::new().edge(START, (retried, failing)).edge(retried, END).edge(failing, END);
    let policy = Policy::new().retry(Retry::attempts(1));
    let limited = StateGraph::<Trip>::new().edge(START, retried).edge(retried, END).policy(retried, policy);
    for (graph, tasks) in [(alone, 1), (several, 2), (limited, 1)] {
        let case = Case::new(graph.on_failure(FailureMode::Collect).compile().unwrap());
        case.thread().run(Trip::input()).await.unwrap_err();
        let done = case.damaged(Damage::Attempts).resume(()).await.unwrap();
        assert_eq!(done.state().log, vec![u32::MAX.to_string(); tasks]);
    }
}

#[tokio::test]
async fn greatest_step_number_does_not_overflow() {
    let asking = || StateGraph::<Trip>::new().edge(START, pack).edge(pack, ask).edge(ask, END);
    for finished in [false, true] {
        let case = Case::new(asking().compile().unwrap());
        let outcome = case.thread().run(Trip::input()).await.unwrap();
        if finished {
            let open = &outcome.pause().unwrap().interrupts()[0];
            case.thread().resume(open.answer_json(json!(true))).await.unwrap();
        }
        for checkpoint in case.thread().history().await.unwrap() {
            let thread = case.damaged(Damage::Steps);
            let at = thread.at(checkpoint.id);
            assert_no_overflow(at.run_again().await);
            assert_no_overflow(at.update(pack(&Trip { log: Vec::new() }).await, as_node(pack)).await);
            assert_no_overflow(thread.update(Trip::update(), as_node(pack)).await);
            assert_no_overflow(thread.resume(()).await);
            assert_no_overflow(thread.run(Trip::input()).abandon_pending().await);
        }
    }
}

#[track_caller]
fn assert_no_overflow<T>(result: Result<T, Error>) {
    if let Err(error) = result {
        assert!(!matches!(error.kind(), ErrorKind::Panicked { .. }), "{error:?}");
    }
}
