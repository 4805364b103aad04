//! Every prefix of the writes of a run whose superstep was rejected. The results of the field's writers are all
//! stored or all revoked, and every continuation reaches the same end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use superstep::checkpoint::WriteBatch;
use superstep::thread::Thread;
use superstep::{ContextWith, Durability, END, ErrorKind, Graph, GraphState, START, StateGraph};

use crate::instrumented_store::stay_pending;
use crate::job::has_no_thread;
use crate::prefixes::{each_prefix, recording_store};

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

/// Decides if too much is written, and counts the runs of each node.
#[derive(Default)]
struct Script {
    fixed: AtomicBool,
    runs: [AtomicUsize; 4],
}

impl Script {
    fn new(fixed: bool) -> Arc<Self> {
        Arc::new(Self { fixed: AtomicBool::new(fixed), ..Self::default() })
    }

    fn amount(&self, node: usize) -> u32 {
        self.runs[node].fetch_add(1, Ordering::SeqCst);
        if self.fixed.load(Ordering::SeqCst) { 1 } else { 5 }
    }

    fn runs(&self) -> [usize; 4] {
        self.runs.each_ref().map(|runs| runs.load(Ordering::SeqCst))
    }
}

async fn left(_: &Sheet, cx: &ContextWith<Script>) -> SheetUpdate {
    Sheet::update().log(["left".to_owned()]).ruled(cx.context().amount(0))
}

async fn right(_: &Sheet, cx: &ContextWith<Script>) -> SheetUpdate {
    stay_pending(2).await;
    Sheet::update().log(["right".to_owned()]).ruled(cx.context().amount(1))
}

async fn beside(_: &Sheet, cx: &ContextWith<Script>) -> SheetUpdate {
    stay_pending(4).await;
    cx.context().amount(2);
    Sheet::update().log(["beside".to_owned()])
}

/// Takes so long that the earlier results are written before it ends.
async fn slow(_: &Sheet, cx: &ContextWith<Script>) -> SheetUpdate {
    stay_pending(20).await;
    cx.context().amount(3);
    Sheet::update().log(["slow".to_owned()])
}

async fn fold_left(_: &Sheet, cx: &ContextWith<Script>) -> SheetUpdate {
    Sheet::update().log(["left".to_owned()]).folded(cx.context().amount(0))
}

async fn fold_right(_: &Sheet, cx: &ContextWith<Script>) -> SheetUpdate {
    stay_pending(2).await;
    Sheet::update().log(["right".to_owned()]).folded(cx.context().amount(1))
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

async fn continue_run(
    thread: &Thread<Sheet, Script>,
    script: &Arc<Script>,
) -> Result<superstep::Outcome<Sheet>, superstep::Error> {
    match thread.resume(()).context(Arc::clone(script)).await {
        Err(error) if has_no_thread(&error) => thread.run(Sheet::input()).context(Arc::clone(script)).await,
        resumed => resumed,
    }
}

/// Returns `true` for each task of the superstep that has a result.
async fn finished(thread: &Thread<Sheet, Script>) -> Vec<bool> {
    let head = thread.state().await.unwrap();
    head.filter(|head| head.step == 0)
        .map(|head| head.tasks.iter().map(|task| task.result.is_some()).collect())
        .unwrap_or_default()
}

async fn rejected_run_batches(graph: &Graph<Sheet, Script>, durability: Durability) -> Vec<WriteBatch> {
    let (store, batches) = recording_store();
    let script = Script::new(false);
    let thread = graph.with_checkpointer(store).thread("t");
    thread.run(Sheet::input()).durability(durability).context(Arc::clone(&script)).await.unwrap_err();
    thread.resume(()).durability(durability).context(Arc::clone(&script)).await.unwrap_err();
    assert_eq!(finished(&thread).await, [false, false, true, true]);
    assert_eq!(script.runs(), [2, 2, 1, 1]);
    batches.lock().unwrap().clone()
}

#[tokio::test]
async fn results_of_a_rejected_field_are_revoked_in_one_commit() {
    for (graph, name) in [(ruled(), "ruled"), (folded(), "folded")] {
        for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
            let batches = rejected_run_batches(&graph, durability).await;
            let mut previous = Vec::new();
            for (count, reopened) in each_prefix(&graph, &batches).await.into_iter().enumerate() {
                let about = format!("{name}, after {count} of {} batches, {durability:?}", batches.len());
                let thread = reopened.thread("t");
                let there = finished(&thread).await;
                // The number of results goes from two to none and back, never from two to one.
                let before = std::mem::replace(&mut previous, there.clone());
                let writer_results = |of: &[bool]| of.iter().take(2).filter(|finished| **finished).count();
                assert!(
                    !(writer_results(&before) == 2 && writer_results(&there) == 1),
                    "{about}: {before:?}, {there:?}"
                );

                // Without a fix, the superstep is rejected again and applies nothing.
                let unmended = thread.copy("unmended").await;
                if let Ok(unmended) = unmended {
                    let error = continue_run(&unmended, &Script::new(false)).await.unwrap_err();
                    let kind = error.kind();
                    assert!(
                        matches!(kind, ErrorKind::Validation { .. } | ErrorKind::Reducer { .. }),
                        "{about}: {error}"
                    );
                    let head = unmended.state().await.unwrap().unwrap();
                    assert_eq!(head.state.unwrap().log, Vec::<String>::new(), "{about}");
                    assert_eq!(finished(&unmended).await, [false, false, true, true], "{about}");
                }

                // A fixed program runs the two writers again, and the others only if they had not finished.
                let script = Script::new(true);
                let outcome = match continue_run(&thread, &script).await {
                    // Both writers had finished with too much, and the rejection was not stored yet.
                    Err(error) => {
                        assert_eq!(writer_results(&there), 2, "{about}: {error}");
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
