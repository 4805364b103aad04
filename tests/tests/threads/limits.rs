//! Everything that can be written can be read back on every path. Everything else is refused, and nothing is written.

use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use superstep::checkpoint::CheckpointError;
use superstep::interrupt::{Answer, Question};
use superstep::limits::{MAX_DEPTH, MAX_KEY_BYTES, MAX_METADATA_BYTES, MAX_NAME_BYTES};
use superstep::thread::{Snapshot, Thread, ThreadStatus};
use superstep::{
    Context, ContextWith, Durability, END, Error, ErrorKind, Graph, GraphState, NodeError, Outcome, Route,
    START, StateGraph,
};

use super::stores::{TestStore, on_every_store};
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, recording_nodes, say, story};

/// Arrays and objects, nested this deep.
fn nested(levels: usize) -> Value {
    (0..levels).fold(json!("core"), |inner, level| {
        if level % 2 == 0 { json!([inner, level]) } else { json!({ "inner": inner, "level": level }) }
    })
}

/// The error of the checkpointer that refused a write.
#[track_caller]
fn refused(error: &Error) -> String {
    let ErrorKind::Checkpoint(source) = error.kind() else { panic!("{error:?}") };
    assert!(matches!(**source, CheckpointError::NotStorable { .. }), "{source:?}");
    source.to_string()
}

mod metadata {
    use super::*;

    recording_nodes! { one }

    fn graph() -> Graph<Story, Probe> {
        story().edge(START, one).edge(one, END).compile().unwrap()
    }

    #[tokio::test]
    async fn metadata_at_the_limit_are_read_everywhere() {
        on_every_store(async |store| {
            let (deep, probe) = (nested(MAX_DEPTH - 1), Arc::new(Probe::default()));
            let thread = store.thread(&graph());
            let run = thread.run(begin("x")).metadata("deep", deep.clone()).context(Arc::clone(&probe));
            run.await.unwrap();
            let has = |snapshot: &Snapshot<Story>| snapshot.metadata["deep"] == deep;
            let thread = store.thread(&graph());
            assert!(has(&thread.state().await.unwrap().unwrap()));
            let all = thread.history().filter("deep", deep.clone()).await.unwrap();
            assert!(all.len() == 3 && all.iter().all(has));
            let from = all[1].id;
            thread
                .at(from)
                .run_again()
                .metadata("deep", deep.clone())
                .context(Arc::clone(&probe))
                .await
                .unwrap();
            thread.update(say("u"), None).metadata("deep", deep.clone()).context(probe).await.unwrap();
            assert!(has(&thread.copy("copy").await.unwrap().state().await.unwrap().unwrap()));
        })
        .await;
    }

    #[tokio::test]
    async fn metadata_over_the_limit_are_refused_before_any_work() {
        let large = Value::from("x".repeat(MAX_METADATA_BYTES));
        let wrong = [
            (nested(MAX_DEPTH), "nested more than 126 deep at key `wrong`"),
            (large, "at most 1048576 can be stored"),
        ];
        on_every_store(async |store| {
            let thread = store.thread(&graph());
            for (value, reason) in &wrong {
                for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
                    let probe = Arc::new(Probe::default());
                    let run = thread.run(begin("x")).metadata("ok", 1).metadata("wrong", value.clone());
                    let run = run.run_id("r").durability(durability).context(Arc::clone(&probe));
                    let text = refused(&run.await.unwrap_err());
                    assert!(
                        text.starts_with(
                            "the write to thread `t` cannot be stored: the metadata of run `r` has "
                        ),
                        "{text}"
                    );
                    assert!(text.contains(reason) && text.contains("key `wrong`"), "{text}");
                    assert_eq!(probe.ran(), "");
                }
                assert!(thread.state().await.unwrap().is_none());
            }
            let probe = Arc::new(Probe::default());
            thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
            let before = thread.history().await.unwrap().len();
            for (value, reason) in &wrong {
                let updated = thread.update(say("u"), None).metadata("wrong", value.clone());
                let text = refused(&updated.context(Arc::clone(&probe)).await.unwrap_err());
                assert!(text.contains(reason), "{text}");
            }
            assert_eq!(thread.history().await.unwrap().len(), before);
        })
        .await;
    }
}

mod interrupts {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Ask(Value);

    impl Question for Ask {
        type Answer = Value;
    }

    /// The depth of the question that the node asks.
    type Levels = std::sync::atomic::AtomicUsize;

    async fn ask(_: &Story, cx: &ContextWith<Levels>) -> StoryUpdate {
        let levels = cx.context().load(std::sync::atomic::Ordering::SeqCst);
        let answer = cx.interrupt(Ask(nested(levels))).await;
        say(answer.to_string())
    }

    async fn sibling(_: &Story) -> StoryUpdate {
        say("sibling")
    }

    fn flat() -> StateGraph<Story, Levels> {
        StateGraph::<Story>::with_context::<Levels>()
            .edge(START, (ask, sibling))
            .edge(ask, END)
            .edge(sibling, END)
    }

    /// The question, this many subgraphs deep.
    fn graph(subgraphs: usize) -> Graph<Story, Levels> {
        (0..subgraphs).fold(flat().compile().unwrap(), |inner, _| {
            let inner = inner.as_node("inner");
            StateGraph::<Story>::with_context::<Levels>()
                .edge(START, &inner)
                .edge(&inner, END)
                .compile()
                .unwrap()
        })
    }

    fn levels(levels: usize) -> Arc<Levels> {
        Arc::new(Levels::new(levels))
    }

    /// Checks every way of reading the question of a thread, and returns the answerable question.
    async fn read_everywhere(thread: &Thread<Story, Levels>) -> superstep::interrupt::OpenInterrupt {
        let question = nested(MAX_DEPTH);
        let state = thread.state().await.unwrap().unwrap();
        assert!(state.tasks.iter().any(|task| task.interrupts.iter().any(|open| open.question == question)));
        // A snapshot can be shown as JSON.
        assert!(serde_json::to_string(&state).unwrap().contains("core"));
        assert!(!thread.history().await.unwrap().is_empty());
        let pause = thread.interrupts().await.unwrap();
        let open = pause.interrupts()[0].clone();
        assert_eq!(open.question, question);
        assert_eq!(*pause.only::<Ask>().unwrap(), Ask(question.clone()));
        open
    }

    #[tokio::test]
    async fn question_and_answer_at_the_limit_are_read_everywhere() {
        on_every_store(async |store| {
            for subgraphs in [0, 1, 3] {
                let (graph, deep) = (graph(subgraphs), levels(MAX_DEPTH));
                let thread = graph.with_checkpointer(store.open()).thread(format!("{subgraphs}"));
                let Outcome::Interrupted(pause) =
                    thread.run(begin("x")).context(Arc::clone(&deep)).await.unwrap()
                else {
                    panic!("it asks")
                };
                assert_eq!(pause.interrupts()[0].question, nested(MAX_DEPTH));

                // Another process.
                let persistent = graph.with_checkpointer(store.open());
                let thread = persistent.thread(format!("{subgraphs}"));
                let open = read_everywhere(&thread).await;
                let unfinished = persistent.unfinished().await.unwrap();
                let this = unfinished.iter().find(|left| left.thread.name() == thread.name()).unwrap();
                let ThreadStatus::WaitingForAnswer(asked) = &this.status else { panic!("{:?}", this.status) };
                assert_eq!(asked[0].question, nested(MAX_DEPTH));
                assert!(persistent.due(SystemTime::now()).await.unwrap().is_empty());

                // A copy and a fork have the question as well.
                let copy = thread.copy(format!("copy {subgraphs}")).await.unwrap();
                read_everywhere(&copy).await;
                let head = copy.state().await.unwrap().unwrap().id;
                copy.at(head).run_again().context(Arc::clone(&deep)).await.unwrap();
                let open_there = read_everywhere(&copy).await;
                let answer = open_there.answer_json(nested(MAX_DEPTH));
                copy.resume(answer).context(Arc::clone(&deep)).await.unwrap();

                // An answer that is too deep is refused, and the question stays open.
                let before = thread.history().await.unwrap().len();
                for answer in [
                    open.answer_json(nested(MAX_DEPTH + 1)),
                    Answer::json(open.id.clone(), nested(MAX_DEPTH + 1)),
                    thread.interrupts().await.unwrap().answer_json(nested(500)).unwrap(),
                    thread.interrupts().await.unwrap().only::<Ask>().unwrap().answer(nested(MAX_DEPTH + 1)),
                ] {
                    let error = thread.resume(answer).context(Arc::clone(&deep)).await.unwrap_err();
                    let ErrorKind::InvalidAnswer { id, reason, .. } = error.kind() else {
                        panic!("{error:?}")
                    };
                    assert_eq!(*id, open.id);
                    assert!(reason.contains("nested more than 127 deep"), "{reason}");
                }
                assert_eq!(thread.history().await.unwrap().len(), before);
                read_everywhere(&thread).await;
                let answer = Answer::json(open.id, nested(MAX_DEPTH));
                let ended = thread.resume(answer).context(deep).await.unwrap();
                assert!(log_of(ended.state()).contains("core"));
                assert!(thread.interrupts().await.unwrap().interrupts().is_empty());
            }
            let all = graph(0).with_checkpointer(store.open()).unfinished().await.unwrap();
            assert!(all.is_empty());
        })
        .await;
    }

    #[tokio::test]
    async fn stored_answer_at_the_limit_is_read_when_the_run_crashed() {
        on_every_store(async |store| {
            let (graph, deep) = (graph(2), levels(MAX_DEPTH));
            let thread = graph.with_checkpointer(store.open()).thread("t");
            thread.run(begin("x")).context(Arc::clone(&deep)).await.unwrap();
            let open = read_everywhere(&thread).await;
            // The answer is durable, and the process dies before the node runs.
            let run = thread.resume(open.answer_json(nested(MAX_DEPTH))).context(Arc::clone(&deep)).start();
            drop(run.await.unwrap());
            let thread = graph.with_checkpointer(store.open()).thread("t");
            assert!(thread.state().await.unwrap().is_some());
            let ended = thread.resume(()).context(deep).await.unwrap();
            assert!(log_of(ended.state()).contains("core"));
        })
        .await;
    }

    #[tokio::test]
    async fn question_over_the_limit_fails_its_node_and_leaves_the_thread_readable() {
        on_every_store(async |store| {
            for subgraphs in [0, 2] {
                let (graph, deep) = (graph(subgraphs), levels(MAX_DEPTH + 1));
                let thread = graph.with_checkpointer(store.open()).thread(format!("{subgraphs}"));
                let error = thread.run(begin("x")).context(Arc::clone(&deep)).await.unwrap_err();
                let text = format!("{error:#} {error:?}");
                assert!(text.contains("question `Ask` cannot be stored"), "{text}");
                assert!(text.contains("nested more than 127 deep"), "{text}");
                assert!(thread.interrupts().await.unwrap().interrupts().is_empty());
                deep.store(MAX_DEPTH, std::sync::atomic::Ordering::SeqCst);
                thread.resume(()).context(Arc::clone(&deep)).await.unwrap();
                let open = read_everywhere(&thread).await;
                thread.resume(open.answer_json(json!(1))).context(deep).await.unwrap();
            }
        })
        .await;
    }
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Deep {
    #[state(input)]
    levels: usize,
    value: Value,
    #[state(reducer = append)]
    list: Vec<Value>,
}

/// A value of the given depth in each place where the engine stores values of programs.
mod values {
    use superstep::cache::{Cache, CachePolicy, MemoryCache};
    use superstep::subgraph::ParentCommand;
    use superstep::thread::as_node;
    use superstep::workflow::Workflow;

    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Packet(Value);

    #[derive(Route)]
    enum Sends {
        #[to(work)]
        Work(Packet),
    }

    async fn step(deep: &Deep, cx: &Context) -> Result<DeepUpdate, NodeError> {
        let levels = deep.levels;
        let value = cx.step("step", async move { Ok::<_, NodeError>(nested(levels)) }).await?;
        Ok(Deep::update().value(value))
    }

    async fn send(deep: &Deep) -> Vec<Sends> {
        vec![Sends::Work(Packet(nested(deep.levels))), Sends::Work(Packet(json!(1)))]
    }

    async fn work(packet: &Packet, deep: &Deep, cx: &ContextWith<Probe>) -> Result<DeepUpdate, NodeError> {
        enter(cx, "work").await?;
        assert_eq!(deep.value, nested(deep.levels));
        Ok(if packet.0 == json!(1) {
            Deep::update()
        } else {
            // The list itself is the outermost level.
            Deep::update().list([packet.0["inner"].clone(), packet.0[0].clone()])
        })
    }

    fn inner() -> Graph<Deep, Probe> {
        StateGraph::<Deep>::with_context::<Probe>()
            .edge(START, step)
            .edge(step, send)
            .edge(work, END)
            .compile()
            .unwrap()
    }

    fn graph() -> Graph<Deep, Probe> {
        let inner = inner().as_node("inner");
        StateGraph::<Deep>::with_context::<Probe>().edge(START, &inner).edge(&inner, END).compile().unwrap()
    }

    #[tokio::test]
    async fn values_at_the_limit_are_read_everywhere() {
        on_every_store(async |store| {
            for graph in [inner(), graph()] {
                let probe = Arc::new(Probe::default());
                probe.set_failing(&["work"]);
                let thread = store.thread(&graph);
                thread.run(Deep::input(MAX_DEPTH)).context(Arc::clone(&probe)).await.unwrap_err();
                // The packets are planned, the step has finished.
                let thread = store.thread(&graph);
                let state = thread.state().await.unwrap().unwrap();
                assert!(serde_json::to_string(&state).is_ok());
                assert!(!thread.history().await.unwrap().is_empty());
                probe.set_failing(&[]);
                let ended = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
                assert_eq!(ended.state().value, nested(MAX_DEPTH));
                assert_eq!(
                    store.thread(&graph).state().await.unwrap().unwrap().state.as_ref(),
                    Some(ended.state())
                );
                thread.delete().await.unwrap();
            }
        })
        .await;
    }

    #[tokio::test]
    async fn values_over_the_limit_fail_their_node() {
        on_every_store(async |store| {
            let thread = store.thread(&inner());
            let run = thread.run(Deep::input(MAX_DEPTH + 1)).context(Probe::default());
            let error = run.await.unwrap_err();
            let text = format!("{error:?}");
            assert!(text.contains("durable step `step` failed: its result cannot be stored"), "{text}");
            assert!(text.contains("nested more than 127 deep"), "{text}");
            assert!(thread.state().await.unwrap().is_some());
        })
        .await;
    }

    #[tokio::test]
    async fn updates_at_the_limit_are_read_everywhere() {
        on_every_store(async |store| {
            let thread = store.thread(&inner());
            let probe = Arc::new(Probe::default());
            probe.set_failing(&["work"]);
            thread.run(Deep::input(3)).context(Arc::clone(&probe)).await.unwrap_err();
            let before = thread.history().await.unwrap().len();
            let update = |levels| Deep::update().value(nested(levels));
            let resumed = thread.resume(()).update(update(MAX_DEPTH + 1)).context(Arc::clone(&probe));
            for error in [
                resumed.await.unwrap_err(),
                thread
                    .update(update(MAX_DEPTH + 1), as_node(END))
                    .context(Arc::clone(&probe))
                    .await
                    .unwrap_err(),
            ] {
                let ErrorKind::NotStorable { source, .. } = error.kind() else { panic!("{error:?}") };
                assert_eq!(source.field(), "value");
                assert!(source.to_string().contains("nested more than 127 deep"), "{source}");
            }
            assert_eq!(thread.history().await.unwrap().len(), before);
            // The update of a resumption is stored with the tasks until they have finished.
            let resumed = thread.resume(()).update(update(MAX_DEPTH)).context(Arc::clone(&probe));
            resumed.await.unwrap_err();
            assert!(store.thread(&inner()).state().await.unwrap().is_some());
            thread.update(update(MAX_DEPTH), as_node(END)).context(probe).await.unwrap();
            let state = store.thread(&inner()).state().await.unwrap().unwrap().state.unwrap();
            assert_eq!(state.value, nested(MAX_DEPTH));
        })
        .await;
    }

    async fn hand_over(deep: &Deep) -> ParentCommand<Deep, Sends> {
        let update = Deep::update().value(nested(deep.levels));
        ParentCommand::update(update).goto(Sends::Work(Packet(nested(deep.levels))))
    }

    #[tokio::test]
    async fn commands_to_the_parent_graph_at_the_limit_are_read_everywhere() {
        let deepest = StateGraph::<Deep>::with_context::<Probe>().edge(START, hand_over).edge(hand_over, END);
        let deepest = deepest.compile().unwrap().as_node("deepest");
        let graph = StateGraph::<Deep>::with_context::<Probe>()
            .edge(START, &deepest)
            .edge(&deepest, END)
            .edge(work, END);
        let graph = graph.compile().unwrap();
        on_every_store(async |store| {
            let probe = Arc::new(Probe::default());
            probe.set_failing(&["work"]);
            let thread = store.thread(&graph);
            thread.run(Deep::input(MAX_DEPTH)).context(Arc::clone(&probe)).await.unwrap_err();
            assert!(thread.history().await.unwrap().len() > 1);
            probe.set_failing(&[]);
            let ended = store.thread(&graph).resume(()).context(probe).await.unwrap();
            assert_eq!(ended.state().value, nested(MAX_DEPTH));
        })
        .await;
    }

    async fn echo(value: &Value, previous: Option<&Value>) -> superstep::Result<Value> {
        assert!(previous.is_none_or(|previous| previous == value));
        Ok(value.clone())
    }

    #[tokio::test]
    async fn workflow_at_the_limit_continues_from_its_previous_result() {
        let graph = Workflow::new(echo).compile().unwrap();
        on_every_store(async |store| {
            for _ in 0..2 {
                let ended = store.thread(&graph).run(nested(MAX_DEPTH)).await.unwrap();
                assert_eq!(ended.value().unwrap(), nested(MAX_DEPTH));
            }
            let error = store.thread(&graph).run(nested(MAX_DEPTH + 1)).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::NotStorable { .. }), "{error:?}");
            assert!(store.thread(&graph).state().await.unwrap().unwrap().is_finished());
        })
        .await;
    }

    async fn cached(deep: &Deep, cx: &ContextWith<Probe>) -> DeepUpdate {
        cx.context().note("cached");
        Deep::update().value(nested(deep.levels))
    }

    #[tokio::test]
    async fn cached_results_at_the_limit_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let file = superstep_sqlite::SqliteCache::open(folder.path().join("cache.db")).unwrap();
        let caches: [Arc<dyn Cache>; 2] = [Arc::new(MemoryCache::new()), Arc::new(file)];
        for cache in caches {
            let graph = StateGraph::<Deep>::with_context::<Probe>().edge(START, cached).edge(cached, END);
            let graph = graph.cache(cached, CachePolicy::by(|deep: &Deep| deep.levels)).compile().unwrap();
            let graph = graph.with_cache(cache);
            let probe = Arc::new(Probe::default());
            for _ in 0..2 {
                let ended = graph.run(Deep::input(MAX_DEPTH)).context(Arc::clone(&probe)).await.unwrap();
                assert_eq!(ended.state().value, nested(MAX_DEPTH));
            }
            assert_eq!(probe.ran(), "cached");
        }
    }

    #[tokio::test]
    async fn events_of_a_subgraph_with_deep_values_are_written_as_json() {
        // Events of a subgraph with another state reach the stream without their type.
        let mapped = inner().as_node("inner").mapped(
            |story: &Story| Deep::input(story.log.len() + MAX_DEPTH - 1),
            |done| say(done.state.value.to_string()),
        );
        let graph = story().edge(START, &mapped).edge(&mapped, END).compile().unwrap();
        let mut stream = graph.run(begin("x")).context(Probe::default()).stream();
        let mut from_inside = 0;
        while let Some(event) = stream.next().await {
            let event = event.unwrap();
            let json = serde_json::to_string(&event).unwrap();
            from_inside += usize::from(!event.namespace.is_empty() && json.contains("core"));
        }
        assert!(from_inside >= 3, "{from_inside}");
    }
}

mod names {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Ask;

    impl Question for Ask {
        type Answer = bool;
    }

    recording_nodes! { one }

    /// The key of the step and of the question.
    async fn keyed(_: &Story, cx: &ContextWith<String>) -> Result<StoryUpdate, NodeError> {
        let key = cx.context();
        match key.strip_prefix('?') {
            None => cx.step(key, async { Ok::<_, NodeError>(()) }).await?,
            Some(key) => drop(cx.interrupt(Ask).keyed(key).await),
        }
        Ok(say("done"))
    }

    fn keys() -> Graph<Story, String> {
        StateGraph::<Story>::with_context::<String>().edge(START, keyed).edge(keyed, END).compile().unwrap()
    }

    fn graph() -> Graph<Story, Probe> {
        story().edge(START, one).edge(one, END).compile().unwrap()
    }

    #[tokio::test]
    async fn long_names_of_threads_and_runs_are_refused() {
        let name = |length| "é".repeat(length / 2);
        on_every_store(async |store| {
            let graph = graph().with_checkpointer(store.open());
            let thread = graph.thread(name(MAX_NAME_BYTES));
            thread.run(begin("x")).run_id(name(MAX_NAME_BYTES)).context(Probe::default()).await.unwrap();
            assert_eq!(&*thread.state().await.unwrap().unwrap().run_id, name(MAX_NAME_BYTES));

            let long = graph.thread(name(MAX_NAME_BYTES + 2));
            let text = refused(&long.run(begin("x")).context(Probe::default()).await.unwrap_err());
            assert!(text.contains("its name is 8194 bytes long, but at most 8192 can be stored"), "{text}");
            assert!(text.len() < 400, "{text}");
            assert!(long.state().await.unwrap().is_none());
            refused(&long.update(say("x"), None).context(Probe::default()).await.unwrap_err());
            refused(&thread.copy(name(MAX_NAME_BYTES + 2)).await.unwrap_err());
            let run = graph.thread("t").run(begin("x")).run_id(name(MAX_NAME_BYTES + 2));
            let text = refused(&run.context(Probe::default()).await.unwrap_err());
            assert!(text.contains("the id of run `é"), "{text}");
            let page = graph.threads(superstep::checkpoint::ThreadQuery::new()).await.unwrap();
            assert_eq!(page.items.len(), 1);
        })
        .await;
    }

    async fn run_with(store: &TestStore, key: String) -> Result<(), String> {
        let thread = store.thread(&keys());
        let ran = thread.run(begin("x")).context(key).await;
        assert!(thread.state().await.unwrap().is_some());
        thread.delete().await.unwrap();
        ran.map(drop).map_err(|error| format!("{error:?}"))
    }

    #[tokio::test]
    async fn long_keys_fail_their_node() {
        on_every_store(async |store| {
            run_with(store, "k".repeat(MAX_NAME_BYTES)).await.unwrap();
            let error = run_with(store, "k".repeat(MAX_NAME_BYTES + 1)).await.unwrap_err();
            assert!(error.contains("its key is 8193 bytes long, but at most 8192 can be stored"), "{error}");
            run_with(store, format!("?{}", "k".repeat(MAX_NAME_BYTES))).await.unwrap();
            let error = run_with(store, format!("?{}", "k".repeat(MAX_KEY_BYTES))).await.unwrap_err();
            assert!(
                error.contains("question `Ask` has an id of") && error.contains("shorter key"),
                "{error}"
            );
        })
        .await;
    }
}
