//! Requests with an idempotency key: sent twice, they apply once and return what has become of the first.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::checkpoint::Prune;
use superstep::interrupt::{Answer, Question};
use superstep::thread::{OnConflict, as_node};
use superstep::{
    ContextWith, Durability, END, Error, ErrorKind, Graph, GraphState, NodeError, Outcome, START, StateGraph,
};

use super::stores::{TestStore, on_every_store};
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, next, recording_nodes, say, story};

recording_nodes! { one two three }

#[derive(Serialize, Deserialize)]
struct Go(u32);

impl Question for Go {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let first = cx.interrupt(Go(1)).await;
    let second = cx.interrupt(Go(2)).await;
    enter(cx, "ask").await?;
    Ok(say(format!("{first} {second}")))
}

async fn ask_once(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let answer = cx.interrupt(Go(1)).await;
    enter(cx, "ask_once").await?;
    Ok(say(answer.to_string()))
}

fn row() -> Graph<Story, Probe> {
    story().edge(START, one).edge(one, two).edge(two, three).edge(three, END).compile().unwrap()
}

fn asking() -> Graph<Story, Probe> {
    story().edge(START, ask).edge(ask, three).edge(three, END).compile().unwrap()
}

fn asking_once() -> Graph<Story, Probe> {
    story().edge(START, ask_once).edge(ask_once, three).edge(three, END).compile().unwrap()
}

fn probe() -> Arc<Probe> {
    Arc::default()
}

/// Starts a run on the thread.
async fn run(store: &TestStore, graph: &Graph<Story, Probe>, probe: &Arc<Probe>) -> Outcome<Story> {
    store.thread(graph).run(begin("in")).context(Arc::clone(probe)).await.unwrap()
}

/// Sends a resumption with a key, like a client in another process.
async fn send(
    store: &TestStore,
    graph: &Graph<Story, Probe>,
    probe: &Arc<Probe>,
    key: &str,
    answers: Vec<Answer>,
) -> Result<Outcome<Story>, Error> {
    store.thread(graph).resume(answers).idempotency_key(key).context(Arc::clone(probe)).await
}

/// Returns the parts of the stored thread that a request could change.
async fn stored(store: &TestStore) -> String {
    let loaded = store.open().get("t", "", None).await.unwrap();
    format!("{:?} {:?} {:?}", loaded.fence, loaded.status, loaded.found.map(|found| found.records))
}

fn answer(outcome: &Outcome<Story>, yes: bool) -> Vec<Answer> {
    let question = outcome.pause().unwrap().interrupts()[0].clone();
    vec![question.answer_json(yes.into())]
}

#[tokio::test]
async fn repeated_answer_applies_once_and_returns_what_became_of_its_run() {
    on_every_store(async |store| {
        let (graph, probe) = (asking(), probe());
        let outcome = run(store, &graph, &probe).await;
        let first = answer(&outcome, true);
        let waits = send(store, &graph, &probe, "first", first.clone()).await.unwrap();
        let before = stored(store).await;
        for _ in 0..2 {
            let again = send(store, &graph, &probe, "first", first.clone()).await.unwrap();
            assert_eq!(again.pause().unwrap().interrupts(), waits.pause().unwrap().interrupts());
        }
        let second = answer(&waits, false);
        assert_eq!(stored(store).await, before, "a repeated request writes nothing");
        let done = send(store, &graph, &probe, "second", second.clone()).await.unwrap();
        assert_eq!(log_of(done.state()), "in true false three");
        assert_eq!(probe.ran(), "ask three");
        let before = stored(store).await;
        for (key, answers) in [("first", &first), ("second", &second), ("first", &first)] {
            let again = send(store, &graph, &probe, key, answers.clone()).await.unwrap();
            assert!(matches!(&again, Outcome::Done(state) if state == done.state()), "{key}");
        }
        // Later runs do not change it.
        let pause = run(store, &graph, &probe).await;
        assert!(pause.pause().is_some());
        let again = send(store, &graph, &probe, "second", second.clone()).await.unwrap();
        assert_eq!(log_of(again.state()), "in true false three");
        assert_ne!(stored(store).await, before);
        assert_eq!(probe.ran(), "", "no task has run again");
    })
    .await;
}

#[tokio::test]
async fn repeated_answer_continues_a_run_that_died_or_failed() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for steps in 0..3 {
            on_every_store(async |store| {
                let (graph, probe) = (asking_once(), probe());
                let answers = answer(&run(store, &graph, &probe).await, true);
                let request = || {
                    let resumed = store.thread(&graph).resume(answers.clone()).idempotency_key("k");
                    resumed.durability(durability).context(Arc::clone(&probe))
                };
                let mut stepper = request().start().await.unwrap().unwrap();
                for _ in 0..steps {
                    stepper.step().await.unwrap();
                }
                drop(stepper);
                let about = format!("{durability:?} after {steps}");
                assert_eq!(log_of(request().await.unwrap().state()), "in true three", "{about}");
                probe.ran();
                assert_eq!(log_of(request().await.unwrap().state()), "in true three", "{about}");
                assert_eq!(probe.ran(), "", "{about}");
            })
            .await;
        }
        on_every_store(async |store| {
            let (graph, probe) = (asking_once(), probe());
            let answers = answer(&run(store, &graph, &probe).await, true);
            probe.set_failing(&["three"]);
            for _ in 0..2 {
                send(store, &graph, &probe, "k", answers.clone()).await.unwrap_err();
            }
            probe.set_failing(&[]);
            let done = send(store, &graph, &probe, "k", answers).await.unwrap();
            assert_eq!(log_of(done.state()), "in true three");
            assert_eq!(probe.ran(), "ask_once three three three");
        })
        .await;
    }
}

#[tokio::test]
async fn request_of_an_abandoned_run_fails() {
    on_every_store(async |store| {
        let (graph, probe) = (asking_once(), probe());
        let answers = answer(&run(store, &graph, &probe).await, true);
        probe.set_failing(&["ask_once"]);
        send(store, &graph, &probe, "k", answers.clone()).await.unwrap_err();
        let thread = store.thread(&graph);
        let other = thread.run(begin("other")).abandon_pending().context(Arc::clone(&probe)).await.unwrap();
        assert!(other.pause().is_some());
        let before = stored(store).await;
        let error = send(store, &graph, &probe, "k", answers).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::RunAbandoned { .. }), "{error}");
        assert_eq!(stored(store).await, before);
    })
    .await;
}

#[tokio::test]
async fn update_of_a_repeated_resumption_is_applied_once() {
    on_every_store(async |store| {
        let (graph, probe) = (row(), probe());
        probe.set_failing(&["two"]);
        store.thread(&graph).run(begin("in")).context(Arc::clone(&probe)).await.unwrap_err();
        let request = || {
            let resumed = store.thread(&graph).resume(()).update(say("patch")).idempotency_key("k");
            resumed.context(Arc::clone(&probe))
        };
        for _ in 0..2 {
            request().await.unwrap_err();
        }
        probe.set_failing(&[]);
        for _ in 0..2 {
            assert_eq!(log_of(request().await.unwrap().state()), "in one patch two three");
        }
        assert_eq!(probe.ran(), "one two two two two three");
    })
    .await;
}

/// The input of a run whose process has died at once is applied by the resumption.
#[tokio::test]
async fn update_on_a_pending_input_is_applied_once() {
    for durability in [Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let (graph, probe) = (row(), probe());
            let thread = store.thread(&graph);
            // Only the checkpoint of the input is left, as after a crash between two writes.
            thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
            let history = thread.history().await.unwrap();
            let input = history.last().unwrap().id;
            let copied = store.open();
            let found = copied.get("t", "", Some(input)).await.unwrap().found.unwrap();
            copied.delete("t", None).await.unwrap();
            let new = superstep::checkpoint::NewCheckpoint::new(found.checkpoint).records(found.records);
            let batch =
                superstep::checkpoint::WriteBatch::new("t", "o", superstep::checkpoint::Fence::default());
            let batch = batch.epoch(1).writes(vec![superstep::checkpoint::BatchWrite::checkpoint(new)]);
            copied.commit(batch).await.unwrap();
            probe.ran();
            let request = || {
                let resumed = store.thread(&graph).resume(()).update(say("patch")).idempotency_key("k");
                resumed.durability(durability).context(Arc::clone(&probe))
            };
            drop(request().start().await.unwrap());
            for _ in 0..2 {
                assert_eq!(
                    log_of(request().await.unwrap().state()),
                    "in patch one two three",
                    "{durability:?}"
                );
            }
            assert_eq!(probe.ran(), "one two three");
        })
        .await;
    }
}

#[tokio::test]
async fn repeated_goto_of_a_finished_thread_runs_once() {
    on_every_store(async |store| {
        for (dies, by_hand) in [(false, false), (true, false), (true, true)] {
            let (graph, probe) = (row(), probe());
            run(store, &graph, &probe).await;
            probe.ran();
            let request = || {
                let resumed = store.thread(&graph).resume(()).goto(as_node(two)).idempotency_key("k");
                resumed.context(Arc::clone(&probe))
            };
            if dies {
                drop(request().start().await.unwrap());
            }
            if by_hand {
                // Another caller continues it.
                store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
            }
            for _ in 0..3 {
                let state = request().await.unwrap().into_state();
                assert_eq!(log_of(&state), "in one two three two three", "{dies} {by_hand}");
            }
            assert_eq!(probe.ran(), "two three", "{dies} {by_hand}");
            run(store, &graph, &probe).await;
            assert_eq!(log_of(request().await.unwrap().state()), "in one two three two three");
            store.thread(&graph).delete().await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn repeated_goto_returns_the_question_of_its_node() {
    on_every_store(async |store| {
        let (graph, probe) = (asking_once(), probe());
        let answers = answer(&run(store, &graph, &probe).await, true);
        send(store, &graph, &probe, "a", answers).await.unwrap();
        probe.ran();
        let request = || {
            let resumed = store.thread(&graph).resume(()).goto(as_node(ask_once)).idempotency_key("k");
            resumed.context(Arc::clone(&probe))
        };
        let asked = request().await.unwrap();
        let again = request().await.unwrap();
        assert_eq!(asked.pause().unwrap().interrupts(), again.pause().unwrap().interrupts());
        let done = send(store, &graph, &probe, "b", answer(&again, false)).await.unwrap();
        assert_eq!(log_of(done.state()), "in true three false three");
        assert_eq!(request().await.unwrap().state(), done.state());
        assert_eq!(probe.ran(), "ask_once three");
    })
    .await;
}

#[tokio::test]
async fn repeated_plain_resumption_passes_one_breakpoint() {
    let graph = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END);
    let graph = graph.interrupt_before(two).interrupt_before(three).compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        assert_eq!(run(store, &graph, &probe).await.pause().unwrap().before(), ["two"]);
        for _ in 0..3 {
            let outcome = send(store, &graph, &probe, "go", Vec::new()).await.unwrap();
            assert_eq!(outcome.pause().unwrap().before(), ["three"]);
        }
        for _ in 0..2 {
            send(store, &graph, &probe, "go on", Vec::new()).await.unwrap();
            let done = send(store, &graph, &probe, "go", Vec::new()).await.unwrap();
            assert_eq!(log_of(done.state()), "in one two three");
        }
        // A request that found nothing to do has used its key as well.
        let idle = send(store, &graph, &probe, "idle", Vec::new()).await.unwrap();
        assert!(matches!(idle, Outcome::Done(_)));
        assert!(store.thread(&graph).state().await.unwrap().unwrap().is_finished());
        assert!(graph.with_checkpointer(store.open()).unfinished().await.unwrap().is_empty());
        assert_eq!(run(store, &graph, &probe).await.pause().unwrap().before(), ["two"]);
        let idle = send(store, &graph, &probe, "idle", Vec::new()).await.unwrap();
        assert_eq!(log_of(idle.state()), "in one two three");
        assert_eq!(next(&store.thread(&graph).state().await.unwrap().unwrap()), "two");
    })
    .await;
}

#[tokio::test]
async fn key_of_another_request_is_refused() {
    on_every_store(async |store| {
        let (graph, probe) = (asking_once(), probe());
        let outcome = run(store, &graph, &probe).await;
        send(store, &graph, &probe, "k", answer(&outcome, true)).await.unwrap();
        let before = stored(store).await;
        let refused = |error: Error| {
            let ErrorKind::IdempotencyKeyReused { thread, key, .. } = error.kind() else { panic!("{error}") };
            assert_eq!((thread.as_str(), key.as_str()), ("t", "k"));
        };
        refused(send(store, &graph, &probe, "k", answer(&outcome, false)).await.unwrap_err());
        refused(send(store, &graph, &probe, "k", Vec::new()).await.unwrap_err());
        let thread = || store.thread(&graph);
        let cx = || Arc::clone(&probe);
        refused(thread().resume(()).update(say("x")).idempotency_key("k").context(cx()).await.unwrap_err());
        refused(
            thread().resume(()).goto(as_node(three)).idempotency_key("k").context(cx()).await.unwrap_err(),
        );
        refused(
            thread().update(say("x"), as_node(END)).idempotency_key("k").context(cx()).await.unwrap_err(),
        );
        assert_eq!(stored(store).await, before);
        // An id of a run is no key.
        let run = thread().run(begin("in")).run_id("k").context(cx()).await.unwrap();
        assert!(run.pause().is_some());
        assert_eq!(thread().history().run_id("k").await.unwrap().len(), 2);
    })
    .await;
}

#[derive(GraphState, Clone)]
struct Account {
    balance: u128,
}

#[tokio::test]
async fn key_of_an_update_with_another_large_number_is_refused() {
    async fn book(_: &Account) {}
    let graph = StateGraph::<Account>::new().edge(START, book).edge(book, END).compile().unwrap();
    let thread = TestStore::memory().thread(&graph);
    let update =
        |balance| thread.update(Account::update().balance(balance), as_node(START)).idempotency_key("k");
    let first = update(u128::MAX).await.unwrap();
    assert_eq!(update(u128::MAX).await.unwrap(), first);
    let error = update(u128::MAX - 1).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::IdempotencyKeyReused { .. }));
}

#[tokio::test]
async fn refused_request_has_not_used_its_key() {
    on_every_store(async |store| {
        let (graph, probe) = (asking_once(), probe());
        let outcome = run(store, &graph, &probe).await;
        let wrong = outcome.pause().unwrap().interrupts()[0].answer_json("maybe".into());
        let error = send(store, &graph, &probe, "k", vec![wrong]).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidAnswer { .. }), "{error}");
        let late = store.thread(&graph).resume(answer(&outcome, true)).if_epoch(7).idempotency_key("k");
        late.context(Arc::clone(&probe)).await.unwrap_err();
        let done = send(store, &graph, &probe, "k", answer(&outcome, true)).await.unwrap();
        assert_eq!(log_of(done.state()), "in true three");
    })
    .await;
}

#[tokio::test]
async fn repeated_update_returns_the_checkpoint_of_the_first() {
    on_every_store(async |store| {
        let (graph, probe) = (row(), probe());
        let cx = || Arc::clone(&probe);
        // Also as the beginning of a thread.
        let first = || store.thread(&graph).update(say("first"), None).idempotency_key("1").context(cx());
        let id = first().await.unwrap();
        assert_eq!(first().await.unwrap(), id);
        store.thread(&graph).resume(()).context(cx()).await.unwrap();
        assert_eq!(first().await.unwrap(), id);
        let thread = store.thread(&graph);
        let bulk = || {
            let steps =
                [vec![(say("a"), as_node(one))], vec![(say("b"), as_node(two)), (say("c"), as_node(two))]];
            store.thread(&graph).bulk_update(steps).idempotency_key("2").context(cx())
        };
        let head = bulk().await.unwrap();
        let before = stored(store).await;
        for _ in 0..2 {
            assert_eq!(bulk().await.unwrap(), head);
            assert_eq!(first().await.unwrap(), id);
        }
        assert_eq!(stored(store).await, before);
        let at = thread.state().await.unwrap().unwrap();
        assert_eq!((at.id, log_of(&at.state.unwrap()).as_str()), (head, "first one two three a b c"));
        // On an old checkpoint, as a new branch.
        let branch =
            || store.thread(&graph).at(id).update(say("x"), as_node(one)).idempotency_key("3").context(cx());
        let branched = branch().await.unwrap();
        assert_eq!(branch().await.unwrap(), branched);
        let elsewhere = thread.at(head).update(say("x"), as_node(one)).idempotency_key("3").context(cx());
        let error = elsewhere.await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::IdempotencyKeyReused { .. }), "{error}");
        let other_place = thread.update(say("first"), as_node(END)).idempotency_key("1").context(cx());
        assert!(other_place.await.is_err());
    })
    .await;
}

#[tokio::test]
async fn repeated_update_of_a_subgraph_call_is_written_once() {
    let inner = story().edge(START, one).edge(one, ask_once).edge(ask_once, two).edge(two, END);
    let inner = inner.compile().unwrap().as_node("inner");
    let graph = story().edge(START, &inner).edge(&inner, three).edge(three, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = probe();
        let asked = answer(&run(store, &graph, &probe).await, true);
        let request = || {
            let thread = store.thread(&graph);
            let update = thread.within(&inner).update(say("by hand"), as_node(ask_once));
            update.idempotency_key("k").context(Arc::clone(&probe))
        };
        let id = request().await.unwrap();
        assert_eq!(request().await.unwrap(), id);
        // The same key of the thread itself is another one.
        let patched = store.thread(&graph).resume(()).idempotency_key("k").context(Arc::clone(&probe));
        assert_eq!(log_of(patched.await.unwrap().state()), "in one by hand two three");
        assert_eq!(request().await.unwrap(), id, "after the call has ended");
        run(store, &graph, &probe).await;
        assert_eq!(request().await.unwrap(), id, "during the next call");
        drop(asked);
    })
    .await;
}

#[tokio::test]
async fn copy_knows_the_keys_and_pruned_checkpoints_are_forgotten() {
    on_every_store(async |store| {
        let (graph, probe) = (row(), probe());
        let cx = || Arc::clone(&probe);
        let thread = store.thread(&graph);
        let id = thread.update(say("a"), None).idempotency_key("k").context(cx()).await.unwrap();
        let copy = thread.copy("copy").await.unwrap();
        assert_eq!(copy.update(say("a"), None).idempotency_key("k").context(cx()).await.unwrap(), id);
        thread.update(say("b"), as_node(one)).context(cx()).await.unwrap();
        let graph = graph.with_checkpointer(store.open());
        graph.prune(Prune::new().thread("t").keep_last(1)).await.unwrap();
        let next = thread.update(say("a"), None).idempotency_key("k").context(cx()).await.unwrap();
        assert!(next > id);
        thread.delete().await.unwrap();
        assert!(thread.update(say("a"), None).idempotency_key("k").context(cx()).await.is_ok());
    })
    .await;
}

#[tokio::test]
async fn any_key_within_the_limit_is_accepted() {
    on_every_store(async |store| {
        let (graph, probe) = (row(), probe());
        let cx = || Arc::clone(&probe);
        let mut seen = Vec::new();
        let longest = "k".repeat(superstep::limits::MAX_KEY_BYTES);
        for key in ["", " ", "\0", "a\0b", "a", "A", "ä", "a%", "_", "'; drop table record; --", &longest] {
            let update =
                || store.thread(&graph).update(say("x"), as_node(START)).idempotency_key(key).context(cx());
            let id = update().await.unwrap();
            assert!(!seen.contains(&id), "{key:?}");
            assert_eq!(update().await.unwrap(), id, "{key:?}");
            seen.push(id);
        }
        let before = stored(store).await;
        let long = format!("{longest}k");
        let error =
            store.thread(&graph).update(say("x"), as_node(START)).idempotency_key(&long).context(cx());
        assert!(matches!(error.await.unwrap_err().kind(), ErrorKind::Checkpoint(_)));
        let error = store.thread(&graph).resume(()).idempotency_key(&long).context(cx());
        assert!(matches!(error.await.unwrap_err().kind(), ErrorKind::Checkpoint(_)));
        assert_eq!(stored(store).await, before);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn simultaneous_senders_apply_a_request_once() {
    for round in 0..8 {
        on_every_store(async |store| {
            let (graph, probe) = (asking_once(), probe());
            let answers = answer(&run(store, &graph, &probe).await, true);
            let senders = (0..4).map(|_| {
                let (thread, answers, cx) = (store.thread(&graph), answers.clone(), Arc::clone(&probe));
                let waits = OnConflict::Wait(Duration::from_secs(60));
                tokio::spawn(async move {
                    let request = thread.resume(answers).update(say("patch")).idempotency_key("k");
                    request.on_conflict(waits).context(cx).await
                })
            });
            for sender in senders.collect::<Vec<_>>() {
                let outcome = sender.await.unwrap().unwrap();
                assert_eq!(log_of(outcome.state()), "in patch true three", "round {round}");
            }
            let senders = (0..4).map(|_| {
                let (thread, cx) = (store.thread(&graph), Arc::clone(&probe));
                tokio::spawn(async move {
                    let request = || thread.update(say("one"), as_node(END)).idempotency_key("u");
                    loop {
                        match request().context(Arc::clone(&cx)).await {
                            Err(error) if matches!(error.kind(), ErrorKind::Conflict(_)) => {}
                            result => return result.unwrap(),
                        }
                    }
                })
            });
            let mut ids = Vec::new();
            for sender in senders.collect::<Vec<_>>() {
                ids.push(sender.await.unwrap());
            }
            assert!(ids.windows(2).all(|pair| pair[0] == pair[1]), "{ids:?}");
            let state = store.thread(&graph).state().await.unwrap().unwrap().state.unwrap();
            assert_eq!(log_of(&state), "in patch true three one");
        })
        .await;
    }
}

/// Without waiting, a repeated request takes over the run, as a repeated run id does.
#[tokio::test]
async fn repeated_request_takes_over_its_run() {
    on_every_store(async |store| {
        let (graph, probe) = (asking_once(), probe());
        let answers = answer(&run(store, &graph, &probe).await, true);
        let first = store.thread(&graph).resume(answers.clone()).idempotency_key("k");
        let first = first.durability(Durability::Sync);
        let mut running = first.context(Arc::clone(&probe)).start().await.unwrap().unwrap();
        let done = send(store, &graph, &probe, "k", answers).await.unwrap();
        assert_eq!(log_of(done.state()), "in true three");
        let stopped = async {
            while running.step().await? {}
            Ok::<_, Error>(())
        };
        assert!(matches!(stopped.await.unwrap_err().kind(), ErrorKind::Conflict(_)));
        let state = store.thread(&graph).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!(log_of(&state), "in true three");
    })
    .await;
}

#[tokio::test]
async fn request_that_was_rolled_back_applies_again() {
    on_every_store(async |store| {
        let (graph, probe) = (asking_once(), probe());
        let cx = || Arc::clone(&probe);
        let made = || store.thread(&graph).update(say("made"), None).idempotency_key("u").context(cx());
        let first = made().await.unwrap();
        let outcome = store.thread(&graph).resume(()).context(cx()).await.unwrap();
        let request = || {
            let resumed = store.thread(&graph).resume(answer(&outcome, true)).update(say("patch"));
            resumed.idempotency_key("k").context(cx())
        };
        request().await.unwrap();
        // The answer was accepted at the checkpoint of the update, which remains.
        store.thread(&graph).roll_back_to(first).await.unwrap();
        assert_eq!(made().await.unwrap(), first, "the update is still there");
        assert_eq!(store.thread(&graph).interrupts().await.unwrap().interrupts().len(), 1);
        probe.ran();
        for _ in 0..2 {
            assert_eq!(log_of(request().await.unwrap().state()), "made patch true three");
        }
        assert_eq!(probe.ran(), "ask_once three");
        store.thread(&graph).roll_back_to(None).await.unwrap();
        assert_ne!(made().await.unwrap(), first);
    })
    .await;
}
