//! Nodes that a resumption adds: by function, by route, and by name with the JSON of a packet.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use superstep::interrupt::Question;
use superstep::thread::{AsNode, Goto, TaskStatus, Thread, as_node, send};
use superstep::{ContextWith, END, ErrorKind, Graph, NodeError, Outcome, Route, START};

use tests::stores::{TestStore, on_every_store};
use tests::story::{Probe, Story, StoryUpdate, enter, log_of, next, recording_nodes, say, story};

recording_nodes! { extra }

#[derive(Serialize, Deserialize, Debug)]
struct Go;

impl Question for Go {
    type Answer = bool;
}

#[derive(Serialize, Deserialize, Debug)]
struct Topic {
    title: String,
    #[serde(default)]
    pages: Vec<u8>,
}

#[derive(Route)]
enum Plan {
    #[to(research)]
    Research(Topic),
    #[to(weigh)]
    Weigh(Option<u32>),
    #[to(extra)]
    Extra,
    #[to(END)]
    Done,
}

async fn plan(_: &Story, cx: &ContextWith<Probe>) -> Plan {
    cx.interrupt(Go).await;
    cx.context().note("plan");
    Plan::Done
}

async fn research(topic: &Topic, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    enter(cx, "research").await?;
    Ok(say(format!("{}{:?}", topic.title, topic.pages)))
}

async fn weigh(packet: &Option<u32>, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    enter(cx, "weigh").await?;
    Ok(say(format!("{packet:?}")))
}

fn graph() -> Graph<Story, Probe> {
    let graph = story().edge(START, plan).node(plan).edge(research, END).edge(weigh, END);
    graph.edge(extra, END).alias(research, "study").compile().unwrap()
}

async fn waiting(store: &TestStore, probe: &Arc<Probe>) -> Thread<Story, Probe> {
    let thread = store.thread(&graph());
    let outcome = thread.run(tests::story::begin("in")).context(Arc::clone(probe)).await.unwrap();
    assert!(matches!(outcome, Outcome::Interrupted(_)));
    thread
}

#[tokio::test]
async fn named_goto_runs_a_node_with_its_packet() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = waiting(store, &probe).await;
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let resumed = thread
            .resume(go.answer(true))
            .goto(Goto::named("study").packet(json!({"title": "tea", "pages": [1, 2]})))
            .goto(Goto::named("weigh").packet(Value::Null))
            .goto(Goto::named("extra"))
            .goto(send(vec![Plan::Weigh(Some(7)), Plan::Extra]))
            .goto(send(Plan::Research(Topic { title: "milk".to_owned(), pages: Vec::new() })))
            .goto(as_node(extra));
        let outcome = resumed.context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in tea[1, 2] None extra Some(7) extra milk[] extra");
    })
    .await;
}

#[tokio::test]
async fn packet_of_a_goto_is_stored_until_the_superstep_is_applied() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = waiting(store, &probe).await;
        probe.set_failing(&["research"]);
        let topic = json!({"title": "tea", "pages": [3]});
        let goto: Goto = serde_json::from_value(json!({"node": "research", "packet": topic})).unwrap();
        thread.resume(()).goto(goto).context(Arc::clone(&probe)).await.unwrap_err();

        let thread = store.thread(&graph());
        let head = thread.state().await.unwrap().unwrap();
        assert_eq!(next(&head), "plan research");
        assert_eq!(head.tasks[1].packet, Some(json!({"title": "tea", "pages": [3]})));
        assert_eq!(head.tasks[1].status(), TaskStatus::Failed);
        // Another resumption adds another task.
        let nothing: Goto = serde_json::from_value(json!({"node": "weigh", "packet": null})).unwrap();
        thread.resume(()).goto(nothing).context(Arc::clone(&probe)).await.unwrap_err();
        let head = thread.state().await.unwrap().unwrap();
        assert_eq!(
            (next(&head).as_str(), &head.tasks[2].packet),
            ("plan research weigh", &Some(Value::Null))
        );

        probe.set_failing(&[]);
        probe.ran();
        let go = thread.interrupts().await.unwrap().only::<Go>().unwrap();
        let outcome = thread.resume(go.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in tea[3] None");
        assert_eq!(probe.ran(), "plan research", "a finished task does not run again");

        // A replay has the packets too, now as part of its plan.
        let outcome = thread.at(head.id).run_again().context(Arc::clone(&probe)).await.unwrap();
        let Outcome::Interrupted(_) = outcome else { panic!("{outcome:?}") };
        let fork = thread.state().await.unwrap().unwrap();
        assert_eq!(
            (next(&fork).as_str(), &fork.tasks[2].packet),
            ("plan research weigh", &Some(Value::Null))
        );
    })
    .await;
}

#[tokio::test]
async fn goto_that_does_not_fit_is_refused_before_anything_is_written() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = waiting(store, &probe).await;
        let before = thread.state().await.unwrap().unwrap();
        let cases = [
            (Goto::named("nowhere"), "the graph has no such node, but `plan`, `research`, `weigh`, `extra`"),
            (Goto::named("END"), "the graph has no such node"),
            (Goto::named("research"), "it takes a packet of type `"),
            (Goto::named("plan").packet(1), "it reads the state and takes no packet"),
            (
                Goto::named("research").packet(json!({"title": "tea", "pages": [1, 300]})),
                "Topic`: at `$.pages[1]`: invalid value: integer `300`, expected u8",
            ),
            (Goto::named("research").packet(json!({})), "at `$`: missing field `title`"),
            (send(Plan::Done), "the route `Done` leads to no node"),
            (send(Vec::<Plan>::new()), "is empty"),
        ];
        for (goto, reason) in cases {
            let shown = format!("{goto:?}");
            let error = thread.resume(()).goto(goto).context(Arc::clone(&probe)).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::InvalidGoto { .. }), "{error}");
            assert!(error.to_string().contains(reason), "{shown}: {error}");
        }
        let routed = AsNode::named("extra").with_route_named("Done");
        let error = thread.resume(()).goto(routed).context(Arc::clone(&probe)).await.unwrap_err();
        assert!(error.to_string().contains("it is more than a node"), "{error}");
        let after = thread.state().await.unwrap().unwrap();
        assert_eq!((after.id, after.epoch, next(&after).as_str()), (before.id, before.epoch, "plan"));
    })
    .await;
}

#[test]
fn goto_from_json_refuses_other_fields_and_shows_no_packet() {
    let read = |json: Value| serde_json::from_value::<Goto>(json);
    assert!(read(json!({"node": "a", "payload": 1})).is_err());
    assert!(read(json!({"packet": 1})).is_err());
    assert!(read(json!("a")).is_err());
    let goto = read(json!({"node": "a", "packet": "secret"})).unwrap();
    assert!(!format!("{goto:?}").contains("secret"));
}
