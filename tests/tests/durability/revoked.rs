//! Every prefix of what a run wrote whose superstep was refused: the results of those who wrote the field are there together or
//! not at all, and whoever goes on comes to the same end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use superstep::checkpoint::WriteBatch;
use superstep::thread::Thread;
use superstep::{ContextWith, Durability, END, ErrorKind, Graph, GraphState, START, StateGraph};

use crate::job::is_new;
use crate::prefixes::{each_prefix, recorded};
use crate::watched::pause;

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Sheet {
    #[state(reducer = append)]
    log: Vec<String>,
    #[state(reducer = add, validate(range(max = 9)))]
    ruled: u32,
    #[state(reducer = up_to_nine)]
    folded: u32,
}

fn up_to_nine(sum: &mut u32, more: u32) -> Result<(), String> {
    *sum += more;
    if *sum > 9 { Err("too much".to_owned()) } else { Ok(()) }
}

/// Whether too much is written, and how often each node has run.
#[derive(Default)]
struct Script {
    mended: AtomicBool,
    runs: [AtomicUsize; 4],
}

impl Script {
    fn new(mended: bool) -> Arc<Self> {
        Arc::new(Self { mended: AtomicBool::new(mended), ..Self::default() })
    }

    fn much(&self, node: usize) -> u32 {
        self.runs[node].fetch_add(1, Ordering::SeqCst);
        if self.mended.load(Ordering::SeqCst) { 1 } else { 5 }
    }

    fn runs(&self) -> [usize; 4] {
        self.runs.each_ref().map(|runs| runs.load(Ordering::SeqCst))
    }
}

async fn left(_: &Sheet, cx: &ContextWith<Script>) -> SheetUpdate {
    Sheet::update().log(["left".to_owned()]).ruled(cx.context().much(0))
}

async fn right(_: &Sheet, cx: &ContextWith<Script>) -> SheetUpdate {
    pause(2).await;
    Sheet::update().log(["right".to_owned()]).ruled(cx.context().much(1))
}

async fn beside(_: &Sheet, cx: &ContextWith<Script>) -> SheetUpdate {
    pause(4).await;
    cx.context().much(2);
    Sheet::update().log(["beside".to_owned()])
}

/// What is told to the store while it runs has been written when it comes to its end.
async fn slow(_: &Sheet, cx: &ContextWith<Script>) -> SheetUpdate {
    pause(20).await;
    cx.context().much(3);
    Sheet::update().log(["slow".to_owned()])
}

async fn fold_left(_: &Sheet, cx: &ContextWith<Script>) -> SheetUpdate {
    Sheet::update().log(["left".to_owned()]).folded(cx.context().much(0))
}

async fn fold_right(_: &Sheet, cx: &ContextWith<Script>) -> SheetUpdate {
    pause(2).await;
    Sheet::update().log(["right".to_owned()]).folded(cx.context().much(1))
}

fn sheet() -> StateGraph<Sheet, Script> {
    StateGraph::<Sheet>::with_context::<Script>()
}

fn ruled() -> Graph<Sheet, Script> {
    let graph = sheet().edge(START, (left, right, beside, slow));
    graph.edge(left, END).edge(right, END).edge(beside, END).edge(slow, END).compile().unwrap()
}

fn folded() -> Graph<Sheet, Script> {
    let graph = sheet().edge(START, (fold_left, fold_right, beside, slow));
    graph.edge(fold_left, END).edge(fold_right, END).edge(beside, END).edge(slow, END).compile().unwrap()
}

async fn go_on(
    thread: &Thread<Sheet, Script>,
    script: &Arc<Script>,
) -> Result<superstep::Outcome<Sheet>, superstep::Error> {
    match thread.resume(()).context(Arc::clone(script)).await {
        Err(error) if is_new(&error) => thread.run(Sheet::input()).context(Arc::clone(script)).await,
        resumed => resumed,
    }
}

/// Which tasks of the superstep have a result.
async fn finished(thread: &Thread<Sheet, Script>) -> Vec<bool> {
    let head = thread.state().await.unwrap();
    head.filter(|head| head.step == 0)
        .map(|head| head.tasks.iter().map(|task| task.result.is_some()).collect())
        .unwrap_or_default()
}

async fn written(graph: &Graph<Sheet, Script>, durability: Durability) -> Vec<WriteBatch> {
    let (store, batches) = recorded();
    let script = Script::new(false);
    let thread = graph.with_checkpointer(store).thread("t");
    thread.run(Sheet::input()).durability(durability).context(Arc::clone(&script)).await.unwrap_err();
    thread.resume(()).durability(durability).context(Arc::clone(&script)).await.unwrap_err();
    assert_eq!(finished(&thread).await, [false, false, true, true]);
    assert_eq!(script.runs(), [2, 2, 1, 1]);
    batches.lock().unwrap().clone()
}

#[tokio::test]
async fn the_results_of_all_who_wrote_a_refused_field_are_revoked_in_one_commit() {
    for (graph, name) in [(ruled(), "ruled"), (folded(), "folded")] {
        for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
            let batches = written(&graph, durability).await;
            let mut had = Vec::new();
            for (count, reopened) in each_prefix(&graph, &batches).await.into_iter().enumerate() {
                let about = format!("{name}, after {count} of {} batches, {durability:?}", batches.len());
                let thread = reopened.thread("t");
                let there = finished(&thread).await;
                // From both to none and back, and never from both to one.
                let before = std::mem::replace(&mut had, there.clone());
                let two = |of: &[bool]| of.iter().take(2).filter(|finished| **finished).count();
                assert!(!(two(&before) == 2 && two(&there) == 1), "{about}: {before:?}, {there:?}");

                // As long as nothing is mended it is refused again, and nothing of it is applied.
                let unmended = thread.copy("unmended").await;
                if let Ok(unmended) = unmended {
                    let error = go_on(&unmended, &Script::new(false)).await.unwrap_err();
                    let kind = error.kind();
                    assert!(
                        matches!(kind, ErrorKind::Validation { .. } | ErrorKind::Reducer { .. }),
                        "{about}: {error}"
                    );
                    let head = unmended.state().await.unwrap().unwrap();
                    assert_eq!(head.state.unwrap().log, Vec::<String>::new(), "{about}");
                    assert_eq!(finished(&unmended).await, [false, false, true, true], "{about}");
                }

                // Who goes on with a program that is runs the two again, and the others only if they had not finished.
                let script = Script::new(true);
                let outcome = match go_on(&thread, &script).await {
                    // Both had finished with too much, and it was not written yet that it was refused.
                    Err(error) => {
                        assert_eq!(two(&there), 2, "{about}: {error}");
                        thread.resume(()).context(Arc::clone(&script)).await.unwrap()
                    }
                    Ok(outcome) => outcome,
                };
                assert_eq!(outcome.state().log, ["left", "right", "beside", "slow"], "{about}");
                let runs = script.runs();
                for (node, finished) in there.iter().enumerate().skip(2) {
                    assert_eq!(runs[node], usize::from(!finished), "{about}");
                }
            }
        }
    }
}
