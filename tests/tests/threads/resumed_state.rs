//! An update given to `resume` becomes part of the head's state, for every reader and every later run.

use serde::{Deserialize, Serialize};
use superstep::checkpoint::Prune;
use superstep::interrupt::Question;
use superstep::thread::{Thread, as_node};
use superstep::{Context, END, ErrorKind, Graph, GraphState, Outcome, START, StateGraph};

use super::stores::{TestStore, on_every_store};

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Order {
    #[state(input)]
    amount: u64,
    #[state(input, reducer = append)]
    log: Vec<String>,
    #[state(ephemeral)]
    hint: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Go(u32);

impl Question for Go {
    type Answer = bool;
}

/// Asks two questions in sequence.
async fn ask(order: &Order, cx: &Context) -> OrderUpdate {
    let one = cx.interrupt(Go(1)).await;
    let two = cx.interrupt(Go(2)).await;
    let hint = order.hint.as_deref().unwrap_or("none");
    Order::update().log([format!("{one} {two} at {}, hint {hint}", order.amount)])
}

async fn after(order: &Order) -> OrderUpdate {
    Order::update().log([format!("after at {}, hint {:?}", order.amount, order.hint)])
}

fn graph() -> Graph<Order> {
    StateGraph::<Order>::new().edge(START, ask).edge(ask, after).edge(after, END).compile().unwrap()
}

/// Returns a thread that waits for the second answer, with an update given along with the first.
async fn patched(store: &TestStore) -> Thread<Order> {
    let thread = store.thread(&graph());
    thread.run(Order::input(1_u64).log(["in".to_owned()])).await.unwrap();
    let first = thread.interrupts().await.unwrap().only::<Go>().unwrap();
    let update = Order::update().amount(20_u64).log(["patch".to_owned()]);
    let outcome = thread.resume(first.answer(true)).update(update).await.unwrap();
    assert_eq!(summary(outcome.state()), (20, "in, patch".to_owned()));
    // A new handle stands for another process.
    store.thread(&graph())
}

fn summary(order: &Order) -> (u64, String) {
    (order.amount, order.log.join(", "))
}

async fn state(thread: &Thread<Order>) -> (u64, String) {
    summary(&thread.state().await.unwrap().unwrap().state.unwrap())
}

/// Answers all open interrupts.
async fn answer_all(thread: &Thread<Order>) -> (u64, String) {
    while let [open, ..] = thread.interrupts().await.unwrap().interrupts() {
        thread.resume(open.answer_json(true.into())).await.unwrap();
    }
    state(thread).await
}

#[tokio::test]
async fn every_read_sees_the_update() {
    on_every_store(async |store| {
        let thread = patched(store).await;
        assert_eq!(state(&thread).await, (20, "in, patch".to_owned()));
        let history = thread.history().await.unwrap();
        assert_eq!(summary(history[0].state.as_ref().unwrap()), (20, "in, patch".to_owned()));
        assert_eq!(history[0].interrupts().count(), 1);
        let head = thread.at(history[0].id).state().await.unwrap().unwrap();
        assert_eq!(head.state, history[0].state);

        // Later checkpoints contain it once.
        assert_eq!(
            answer_all(&thread).await.1,
            "in, patch, true true at 20, hint none, after at 20, hint None"
        );
        let old = thread.at(history[0].id).state().await.unwrap().unwrap();
        assert_eq!(summary(&old.state.unwrap()), (20, "in, patch".to_owned()));
    })
    .await;
}

#[tokio::test]
async fn update_as_a_node_keeps_the_resumed_update() {
    on_every_store(async |store| {
        let thread = patched(store).await;
        let head = thread.state().await.unwrap().unwrap().id;
        thread.update(Order::update().log(["by hand".to_owned()]), as_node(ask)).await.unwrap();
        assert_eq!(state(&thread).await, (20, "in, patch, by hand".to_owned()));
        let thread = store.thread(&graph());
        assert_eq!(answer_all(&thread).await.1, "in, patch, by hand");
        thread.resume(()).await.unwrap();
        assert_eq!(state(&thread).await.1, "in, patch, by hand, after at 20, hint None");

        // An update that forks the checkpoint keeps it too.
        let update = Order::update().log(["branch".to_owned()]);
        store.thread(&graph()).at(head).update(update, as_node(END)).await.unwrap();
        assert_eq!(state(&thread).await, (20, "in, patch, branch".to_owned()));
    })
    .await;
}

#[tokio::test]
async fn replay_starts_from_the_updated_state() {
    on_every_store(async |store| {
        let thread = patched(store).await;
        let head = thread.state().await.unwrap().unwrap().id;
        for _ in 0..2 {
            // First the replay of the head, then of a checkpoint with successors.
            let outcome = store.thread(&graph()).at(head).run_again().await.unwrap();
            assert_eq!(summary(outcome.state()), (20, "in, patch".to_owned()));
            assert_eq!(outcome.pause().unwrap().only::<Go>().unwrap().0, 1, "it asks again");
            assert_eq!(state(&thread).await, (20, "in, patch".to_owned()));
            assert_eq!(
                answer_all(&thread).await.1,
                "in, patch, true true at 20, hint none, after at 20, hint None"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn new_input_keeps_the_update() {
    on_every_store(async |store| {
        let thread = patched(store).await;
        let head = thread.state().await.unwrap().unwrap().id;
        for at in [None, Some(head)] {
            let input = Order::input(3_u64).log(["new".to_owned()]);
            let run = match at {
                None => thread.run(input),
                Some(head) => thread.at(head).run(input),
            };
            let outcome = run.abandon_pending().await.unwrap();
            assert_eq!(summary(outcome.state()), (3, "in, patch, new".to_owned()));
            assert_eq!(state(&thread).await, (3, "in, patch, new".to_owned()));
            // The checkpoint of the waiting input has it too.
            let history = thread.history().await.unwrap();
            assert_eq!(summary(history[1].state.as_ref().unwrap()), (20, "in, patch".to_owned()));
            let again = thread.at(history[1].id).run_again().await.unwrap();
            assert_eq!(summary(again.state()), (3, "in, patch, new".to_owned()));
        }
    })
    .await;
}

#[tokio::test]
async fn copies_and_pruning_keep_the_update() {
    on_every_store(async |store| {
        let thread = patched(store).await;
        let graph = graph().with_checkpointer(store.open());
        let copy = thread.copy("copy").await.unwrap();
        graph.prune(Prune::new().keep_last(1)).await.unwrap();
        for thread in [thread, copy] {
            assert_eq!(thread.history().await.unwrap().len(), 1);
            assert_eq!(state(&thread).await, (20, "in, patch".to_owned()));
            assert_eq!(
                answer_all(&thread).await.1,
                "in, patch, true true at 20, hint none, after at 20, hint None"
            );
        }
        graph.prune(Prune::new().keep_last(1)).await.unwrap();
        assert_eq!(state(&graph.thread("t")).await.0, 20);
    })
    .await;
}

#[tokio::test]
async fn several_updates_apply_in_order() {
    on_every_store(async |store| {
        let thread = patched(store).await;
        let update = Order::update().amount(30_u64).log(["another".to_owned()]);
        let outcome = thread.resume(()).update(update).await.unwrap();
        assert!(matches!(outcome, Outcome::Interrupted(_)));
        assert_eq!(state(&thread).await, (30, "in, patch, another".to_owned()));
        thread.update(Order::update().log(["by hand".to_owned()]), as_node(END)).await.unwrap();
        assert_eq!(state(&thread).await, (30, "in, patch, another, by hand".to_owned()));
    })
    .await;
}

#[tokio::test]
async fn ephemeral_update_is_cleared_after_its_superstep() {
    on_every_store(async |store| {
        for again in [false, true] {
            let thread = patched(store).await;
            thread.resume(()).update(Order::update().hint("hurry".to_owned())).await.unwrap();
            let head = thread.state().await.unwrap().unwrap();
            assert_eq!(head.state.unwrap().hint.as_deref(), Some("hurry"));
            if again {
                thread.at(head.id).run_again().await.unwrap();
            }
            let thread = store.thread(&graph());
            assert_eq!(
                answer_all(&thread).await.1,
                "in, patch, true true at 20, hint hurry, after at 20, hint None"
            );
            thread.delete().await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn update_of_a_finished_thread_needs_a_goto() {
    on_every_store(async |store| {
        let graph = StateGraph::<Order>::new().edge(START, after).edge(after, END).edge(START, note);
        let graph = graph.edge(note, END).compile().unwrap();
        let thread = store.thread(&graph);
        thread.run(Order::input(1_u64)).await.unwrap();
        let history = thread.history().await.unwrap();
        let final_checkpoint = thread.at(history[0].id);

        let update = || Order::update().amount(99_u64);
        let error = thread.resume(()).update(update()).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NothingToRun { thread , .. } if thread == "t"), "{error}");
        assert!(error.to_string().contains("`thread.update(.., as_node(..))`"), "{error}");
        let error = final_checkpoint.run_again().update(update()).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NothingToRun { .. }), "{error}");
        assert_eq!(thread.history().await.unwrap().len(), history.len());

        let outcome = thread.resume(()).update(update()).goto(as_node(note)).await.unwrap();
        assert_eq!(outcome.state().log.last().unwrap(), "noted 99");
        assert_eq!(state(&thread).await, summary(outcome.state()));
    })
    .await;
}

async fn note(order: &Order) -> OrderUpdate {
    Order::update().log([format!("noted {}", order.amount)])
}

#[tokio::test]
async fn goto_node_is_shown_and_replayed_like_any_other() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        thread.run(Order::input(1_u64)).await.unwrap();
        answer_all(&thread).await;
        let done = state(&thread).await;
        assert!(matches!(thread.resume(()).goto(as_node(ask)).await.unwrap(), Outcome::Interrupted(_)));

        let thread = store.thread(&graph());
        let head = thread.state().await.unwrap().unwrap();
        assert_eq!((head.is_finished(), head.next.len(), head.interrupts().count()), (false, 1, 1));
        let open = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        assert!(matches!(thread.resume(open.answer(true)).await.unwrap(), Outcome::Interrupted(_)));
        let line = "true true at 1, hint none, after at 1, hint None";
        assert_eq!(answer_all(&thread).await.1, format!("{}, {line}", done.1));

        thread.at(head.id).run_again().await.unwrap();
        let fork = thread.state().await.unwrap().unwrap();
        assert_eq!((fork.parent, &fork.next), (Some(head.id), &head.next));
        assert_eq!(answer_all(&thread).await.1, format!("{}, {line}", done.1));
    })
    .await;
}
