//! The subgraph calls of a thread as JSON, without their types.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use superstep::interrupt::Question;
use superstep::subgraph::{CallResult, Subgraph};
use superstep::thread::{CallSnapshot, TaskSnapshot, TaskStatus, keep_plan};
use superstep::{ContextWith, END, ErrorKind, Graph, GraphState, NodeError, Route, START, StateGraph};

use tests::stores::on_every_store;
use tests::story::{Probe, Story, StoryUpdate, begin, enter, log_of, recording_nodes, say, story};

recording_nodes! { open close print }

#[derive(Serialize, Deserialize, Debug)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Go).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

fn inner() -> Graph<Story, Probe> {
    story().edge(START, open).edge(open, ask).edge(ask, close).edge(close, END).compile().unwrap()
}

#[tokio::test]
async fn nested_calls_are_listed_with_their_state() {
    let deep = inner().as_node("deep/er");
    let middle = story().edge(START, &deep).edge(&deep, END).compile().unwrap();
    let middle =
        middle.as_node("middle").mapped(|_: &Story| begin("middle"), |_: CallResult<Story>| say("middle"));
    let graph = story().edge(START, &middle).edge(&middle, print).edge(print, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&graph);
        assert!(thread.calls(None).await.unwrap().is_empty(), "a thread that does not exist");
        thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        let asked = thread.state().await.unwrap().unwrap().id;

        let calls = thread.calls(None).await.unwrap();
        let [outer] = &calls[..] else { panic!("{calls:?}") };
        assert_eq!((outer.namespace.as_str(), outer.task, outer.called_at), ("middle", Some(0), asked));
        assert_eq!(outer.state, Some(json!({"log": ["middle"], "value": null})));
        assert_eq!(
            (outer.next.join(" ").as_str(), outer.tasks[0].status),
            ("deep/er", TaskStatus::WaitingForAnswer)
        );
        let [call] = &outer.calls[..] else { panic!("{calls:?}") };
        assert_eq!((call.path.join(" > ").as_str(), call.step), ("middle > deep/er", 1));
        assert_eq!(call.state, Some(json!({"log": ["middle", "open"], "value": null})));
        assert_eq!(call.tasks[0].interrupts[0].name, "Go");
        let typed = thread.within(&middle).within(&deep).state().await.unwrap().unwrap();
        assert_eq!((call.id, call.tasks[0].id.as_str()), (typed.id, typed.tasks[0].id.as_str()));
        let shown = serde_json::to_value(&calls).unwrap();
        assert_eq!(shown[0]["calls"][0]["tasks"][0]["status"], "waiting_for_answer");
        assert!(shown[0]["created_at_ms"].is_u64() && shown[0].get("unreadable").is_none());

        // An edit of the thread is the new position of the call.
        thread.update(say("edited"), keep_plan()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(thread.calls(None).await.unwrap().len(), 1);
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        thread.resume(go.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        assert!(thread.calls(None).await.unwrap().is_empty(), "nothing is planned");

        // At the checkpoint that planned it, the call is as it was then. Afterwards it has ended.
        let then = thread.calls(asked).await.unwrap();
        assert_eq!((then[0].id, &then[0].next), (outer.id, &outer.next));
        let history = thread.call_history("middle/deep%2Fer").await.unwrap();
        let states: Vec<_> =
            history.iter().map(|at| at.state.clone().unwrap()["log"].as_array().unwrap().len()).collect();
        assert_eq!(states, [4, 3, 2, 1]);
        let typed = thread.within(&middle).within(&deep).history().await.unwrap();
        assert!(history.iter().map(|at| at.id).eq(typed.iter().map(|at| at.id)));
        for (at, typed) in history.iter().zip(&typed) {
            assert_eq!(at.state.as_ref().unwrap()["log"], json!(typed.state.as_ref().unwrap().log));
        }
        let statuses = |history: &[CallSnapshot]| {
            history.iter().flat_map(|at| at.tasks.iter().map(|task| task.status)).collect::<Vec<_>>()
        };
        let of_typed = typed.iter().flat_map(|at| at.tasks.iter().map(TaskSnapshot::status));
        assert_eq!(statuses(&history), of_typed.collect::<Vec<_>>());
        assert_eq!(statuses(&history), [TaskStatus::Finished; 3], "the newest has no tasks");
        let mut pages = thread.call_history("middle/deep%2Fer").before(history[0].id).limit(2);
        let page = pages.next_page().await.unwrap();
        assert!(page.iter().map(|at| at.id).eq([history[1].id, history[2].id]));
        assert_eq!(statuses(&page), [TaskStatus::Finished; 2], "applied by a checkpoint that is not listed");
        assert!(pages.next_page().await.unwrap().is_empty());
        assert!(thread.call_history("nowhere").await.unwrap().is_empty());
        assert!(thread.call_history("").await.unwrap().is_empty(), "not the thread's own");
        let unknown = superstep::checkpoint::CheckpointId::FIRST;
        let error = thread.calls(unknown).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NoCheckpoint { .. }));
    })
    .await;
}

#[derive(GraphState, Clone)]
struct Login {
    #[state(input)]
    user: String,
    #[state(input, exclude)]
    password: String,
    #[state(untracked)]
    session: Vec<u8>,
}

async fn check(_: &Login, cx: &ContextWith<Probe>) -> LoginUpdate {
    cx.interrupt(Go).await;
    Login::update()
}

#[derive(Serialize, Deserialize)]
struct Topic(String);

#[derive(Route)]
enum Work {
    #[to("study")]
    Study(Topic),
}

async fn deal(_: &Story) -> Vec<Work> {
    vec![Work::Study(Topic("tea".to_owned())), Work::Study(Topic("milk".to_owned()))]
}

fn logins() -> Graph<Login, Probe> {
    let graph = StateGraph::<Login>::with_context::<Probe>();
    graph.edge(START, check).edge(check, END).compile().unwrap()
}

#[tokio::test]
async fn excluded_and_untracked_fields_are_not_in_the_state() {
    let login = logins()
        .as_node("login")
        .mapped(|_: &Story| Login::input("ann", "hunter2"), |_: CallResult<Login>| say("in"));
    let graph = story().edge(START, &login).edge(&login, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(begin("in")).context(Arc::<Probe>::default()).await.unwrap();
        let calls = thread.calls(None).await.unwrap();
        assert_eq!(calls[0].state, Some(json!({"user": "ann"})));
        let history = thread.call_history("login").await.unwrap();
        for shown in [format!("{calls:?} {history:?}"), serde_json::to_string(&(&calls, &history)).unwrap()] {
            assert!(!shown.contains("hunter2") && !shown.contains("session"), "{shown}");
        }
    })
    .await;
}

#[tokio::test]
async fn call_of_each_packet_and_each_key_is_listed() {
    let study = || {
        inner().as_node("study").mapped_packet(
            |_: &Story, topic: &Topic| begin(&topic.0),
            |done: CallResult<Story>| say(log_of(&done.state)),
        )
    };
    let keyed = study().keyed_by_packet(|_: &Story, topic: &Topic| topic.0.clone());
    let packets = story().edge(START, deal).node(deal).edge(study(), END).compile().unwrap();
    let keys = story().edge(START, deal).node(deal).edge(&keyed, END).compile().unwrap();
    on_every_store(async |store| {
        for (graph, namespaces, keys) in [
            (&packets, ["study#0", "study#1"], [None, None]),
            (&keys, ["study:tea", "study:milk"], [Some("tea"), Some("milk")]),
        ] {
            let thread = store.thread(graph);
            thread.delete().await.unwrap();
            thread.run(begin("in")).context(Arc::<Probe>::default()).await.unwrap();
            let calls = thread.calls(None).await.unwrap();
            assert!(calls.iter().map(|call| call.namespace.as_str()).eq(namespaces));
            assert!(calls.iter().map(|call| call.key.as_deref()).eq(keys));
            assert!(calls.iter().map(|call| call.task).eq([Some(0), Some(1)]));
            for (call, topic) in calls.iter().zip(["tea", "milk"]) {
                assert_eq!(call.state.as_ref().unwrap()["log"], json!([topic, "open"]));
                assert_eq!(call.path, ["study"]);
            }
        }
    })
    .await;
}

#[tokio::test]
async fn call_of_a_lazy_subgraph_is_listed_without_its_state() {
    let lazy: Subgraph<Story, Probe> = Subgraph::lazy("lazy", inner);
    let graph = story().edge(START, &lazy).edge(&lazy, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(begin("in")).context(Arc::<Probe>::default()).await.unwrap();
        let calls = thread.calls(None).await.unwrap();
        assert_eq!(
            (calls[0].namespace.as_str(), &calls[0].state, &calls[0].unreadable),
            ("lazy", &None, &None)
        );
        assert_eq!((calls[0].next.join(" ").as_str(), calls[0].tasks[0].interrupts.len()), ("ask", 1));
        let history = thread.call_history("lazy").await.unwrap();
        assert!(history.iter().all(|at| at.state.is_none() && !at.next.is_empty()));
        let shown: Value = serde_json::to_value(&calls[0]).unwrap();
        assert_eq!(shown["state"], Value::Null);
    })
    .await;
}

#[tokio::test]
async fn failed_task_and_shared_state_of_a_call_are_listed() {
    let shared = inner().as_node("shared");
    let graph = story().edge(START, &shared).edge(&shared, END).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["open"]);
        let thread = store.thread(&graph);
        thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap_err();
        let calls = thread.calls(None).await.unwrap();
        assert_eq!(calls[0].tasks[0].status, TaskStatus::Failed);
        assert!(calls[0].tasks[0].error.as_ref().unwrap().text.contains("open is broken"));
        assert_eq!(calls[0].state.as_ref().unwrap()["log"], json!(["in"]));
        probe.set_failing(&[]);
        thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        thread.update(say("edited"), keep_plan()).context(Arc::clone(&probe)).await.unwrap();
        let calls = thread.calls(None).await.unwrap();
        assert_eq!(calls[0].state.as_ref().unwrap()["log"], json!(["in", "edited", "open"]));
        let history = thread.call_history("shared").await.unwrap();
        assert_eq!(
            history[0].state.as_ref().unwrap()["log"],
            json!(["in", "open"]),
            "as it was when it was written"
        );
    })
    .await;
}
