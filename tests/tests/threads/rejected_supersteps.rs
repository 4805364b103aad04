//! A rejected superstep applies nothing. Its thread can be resumed, updated, replayed or given new input.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use superstep::thread::{Snapshot, as_node};
use superstep::{
    ContextWith, END, Error, ErrorKind, Graph, GraphState, Overwrite, Result, START, StateGraph, bail,
};

use super::stores::on_every_store;

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Sheet {
    #[state(input, reducer = append)]
    log: Vec<String>,
    #[state(validate(range(max = 9)))]
    number: u32,
    #[state(reducer = up_to_nine)]
    sum: u32,
}

fn up_to_nine(sum: &mut u32, more: u32) -> Result<(), String> {
    *sum += more;
    if *sum > 9 { Err("too much".to_owned()) } else { Ok(()) }
}

/// Selects the mistake of `right` (none at 0), and counts the runs of both nodes.
#[derive(Default)]
struct Script {
    mistake: AtomicU32,
    runs: [AtomicUsize; 2],
}

impl Script {
    fn making(mistake: u32) -> Arc<Self> {
        Arc::new(Self { mistake: AtomicU32::new(mistake), ..Self::default() })
    }

    fn fix(&self) {
        self.mistake.store(0, Ordering::SeqCst);
    }

    fn runs(&self) -> [usize; 2] {
        self.runs.each_ref().map(|runs| runs.load(Ordering::SeqCst))
    }
}

const CLASHES: u32 = 1;
const BREAKS_A_RULE: u32 = 2;
const FAILS: u32 = 3;
const IS_NOT_FOLDED: u32 = 4;

async fn left(_: &Sheet, cx: &ContextWith<Script>) -> SheetUpdate {
    cx.context().runs[0].fetch_add(1, Ordering::SeqCst);
    let update = Sheet::update().log(["left".to_owned()]);
    if cx.context().mistake.load(Ordering::SeqCst) == CLASHES { update.number(1_u32) } else { update }
}

async fn right(_: &Sheet, cx: &ContextWith<Script>) -> Result<SheetUpdate> {
    cx.context().runs[1].fetch_add(1, Ordering::SeqCst);
    let update = Sheet::update();
    Ok(match cx.context().mistake.load(Ordering::SeqCst) {
        CLASHES => update.number(2_u32),
        BREAKS_A_RULE => update.number(10_u32),
        IS_NOT_FOLDED => update.sum(10_u32),
        FAILS => {
            tokio::task::yield_now().await;
            bail!("not now")
        }
        _ => update.number(3_u32),
    })
}

async fn end(_: &Sheet) -> SheetUpdate {
    Sheet::update().log(["end".to_owned()])
}

fn graph() -> Graph<Sheet, Script> {
    StateGraph::<Sheet>::with_context::<Script>()
        .edge(START, (left, right))
        .join((left, right), end)
        .edge(end, END)
        .compile()
        .unwrap()
}

fn input() -> SheetInput {
    Sheet::input().log(["in".to_owned()])
}

fn log(snapshot: &Snapshot<Sheet>) -> String {
    snapshot.state.as_ref().unwrap().log.join(" ")
}

fn finished(snapshot: &Snapshot<Sheet>) -> Vec<bool> {
    snapshot.tasks.iter().map(|task| task.result.is_some()).collect()
}

#[track_caller]
fn assert_conflict(error: &Error) {
    assert!(matches!(error.kind(), ErrorKind::WriteConflict { field: "number", .. }), "{error}");
}

#[tokio::test]
async fn conflicting_writers_keep_their_results() {
    on_every_store(async |store| {
        let script = Script::making(CLASHES);
        let thread = store.thread(&graph());
        assert_conflict(&thread.run(input()).context(Arc::clone(&script)).await.unwrap_err());
        for _ in 0..2 {
            let head = store.thread(&graph()).state().await.unwrap().unwrap();
            assert_eq!((log(&head).as_str(), head.state.as_ref().unwrap().number), ("in", 0));
            assert_eq!(finished(&head), [true, true]);
            let again = store.thread(&graph()).resume(()).context(Arc::clone(&script));
            assert_conflict(&again.await.unwrap_err());
            assert_eq!(script.runs(), [1, 1]);
        }
    })
    .await;
}

#[tokio::test]
async fn conflict_ends_with_new_input_an_update_or_a_replay() {
    on_every_store(async |store| {
        let script = Script::making(CLASHES);
        let thread = store.thread(&graph());
        assert_conflict(&thread.run(input()).context(Arc::clone(&script)).await.unwrap_err());
        let head = thread.state().await.unwrap().unwrap();
        let branch = async |name: &str| thread.copy(name).await.unwrap();
        let (inputs, updated, replayed) =
            (branch("input").await, branch("update").await, branch("replay").await);
        script.fix();

        let run = inputs.run(input()).abandon_pending().context(Arc::clone(&script));
        assert_eq!(run.await.unwrap().state().log, ["in", "in", "left", "end"]);

        // The update decides the field's value, with or without `Overwrite`.
        let settled = updated.copy("settled").await.unwrap();
        let update = settled.update(Sheet::update().number(8), as_node(END));
        update.context(Arc::clone(&script)).await.unwrap();
        assert_eq!(settled.state().await.unwrap().unwrap().state.unwrap().number, 8);

        let update = updated.update(Sheet::update().number(Overwrite(7)), as_node(END));
        update.context(Arc::clone(&script)).await.unwrap();
        let ended = updated.state().await.unwrap().unwrap();
        assert!(ended.is_finished());
        assert_eq!(ended.state.unwrap().number, 7);

        let again = replayed.at(head.id).run_again().context(Arc::clone(&script)).await.unwrap();
        assert_eq!((again.state().log.join(" ").as_str(), again.state().number), ("in left end", 3));
    })
    .await;
}

#[tokio::test]
async fn rejected_superstep_reruns_only_the_writers() {
    on_every_store(async |store| {
        for mistake in [BREAKS_A_RULE, IS_NOT_FOLDED] {
            let thread = || graph().with_checkpointer(store.open()).thread(mistake.to_string());
            let script = Script::making(mistake);
            let error = thread().run(input()).context(Arc::clone(&script)).await.unwrap_err();
            let is_expected_kind = match mistake {
                BREAKS_A_RULE => matches!(error.kind(), ErrorKind::Validation { .. }),
                _ => matches!(error.kind(), ErrorKind::Reducer { .. }),
            };
            assert!(is_expected_kind, "{error}");
            let head = thread().state().await.unwrap().unwrap();
            assert_eq!((log(&head).as_str(), finished(&head)), ("in", vec![true, false]));
            script.fix();
            let outcome = thread().resume(()).context(Arc::clone(&script)).await.unwrap();
            let Sheet { log, number, sum } = outcome.into_state();
            assert_eq!((log.join(" ").as_str(), number, sum), ("in left end", 3, 0));
            assert_eq!(script.runs(), [1, 2]);
        }
    })
    .await;
}

#[tokio::test]
async fn fan_out_resumes_partly_and_replays_fully() {
    on_every_store(async |store| {
        let script = Script::making(FAILS);
        let thread = store.thread(&graph());
        thread.run(input()).context(Arc::clone(&script)).await.unwrap_err();
        let head = thread.state().await.unwrap().unwrap();
        assert_eq!(finished(&head), [true, false]);
        let before = head.parent.unwrap();
        let copy = thread.copy("copy").await.unwrap();
        script.fix();

        // The head, named by its id, runs only the rest. Other checkpoints cannot be resumed.
        let other = thread.at(before).resume(()).context(Arc::clone(&script)).await.unwrap_err();
        assert!(matches!(other.kind(), ErrorKind::NotHead { .. }), "{other}");
        let rest = thread.at(head.id).resume(()).context(Arc::clone(&script)).await.unwrap();
        assert_eq!((rest.state().log.join(" ").as_str(), script.runs()), ("in left end", [1, 2]));

        let again = copy.at(head.id).run_again().context(Arc::clone(&script)).await.unwrap();
        assert_eq!((again.state().log.join(" ").as_str(), script.runs()), ("in left end", [2, 3]));
        let history = copy.history().await.unwrap();
        let fork = history.iter().find(|snapshot| snapshot.parent == Some(head.id)).unwrap();
        assert_eq!(fork.next, head.next);
        for (new, old) in fork.tasks.iter().zip(&head.tasks) {
            assert_eq!(new.node, old.node);
            assert_ne!(new.id, old.id);
        }
    })
    .await;
}

#[tokio::test]
async fn update_passes_reducers_and_validation() {
    on_every_store(async |store| {
        let script = Script::making(0);
        let thread = store.thread(&graph());
        thread.run(input()).context(Arc::clone(&script)).await.unwrap();
        let before = thread.history().await.unwrap().len();
        let broken = thread.update(Sheet::update().number(10_u32), as_node(end));
        let broken = broken.context(Arc::clone(&script)).await.unwrap_err();
        assert!(matches!(broken.kind(), ErrorKind::Validation { .. }), "{broken}");
        assert_eq!(thread.history().await.unwrap().len(), before);
        let update = thread.update(Sheet::update().log(["more".to_owned()]), as_node(end));
        update.context(Arc::clone(&script)).await.unwrap();
        assert_eq!(log(&thread.state().await.unwrap().unwrap()), "in left end more");
    })
    .await;
}

#[tokio::test]
async fn history_filters_by_run_metadata() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        let script = Script::making(0);
        let named = thread.run(input()).context(Arc::clone(&script)).metadata("user", "ada");
        named.await.unwrap();
        thread.run(input()).context(script).await.unwrap();
        let all = thread.history().await.unwrap();
        let ids = |snapshots: &[Snapshot<Sheet>]| snapshots.iter().map(|one| one.id).collect::<Vec<_>>();
        let (second, first) = all.split_at(4);
        assert!(second.iter().all(|snapshot| snapshot.metadata.is_empty()));
        assert!(
            first.iter().all(|snapshot| snapshot.metadata.len() == 1 && snapshot.metadata["user"] == "ada")
        );
        assert!(
            all.windows(2).all(|pair| pair[0].created_at >= pair[1].created_at && pair[0].id > pair[1].id)
        );
        assert_eq!(ids(&thread.history().filter("user", "ada").await.unwrap()), ids(first));
        assert!(thread.history().filter("user", "bob").await.unwrap().is_empty());
        assert_eq!(ids(&thread.history().before(all[1].id).limit(2).await.unwrap()), ids(&all[2..4]));
        let page = thread.history().filter("user", "ada").before(first[0].id).limit(1).await.unwrap();
        assert_eq!(ids(&page), ids(&first[1..2]));
    })
    .await;
}
