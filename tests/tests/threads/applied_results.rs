//! The results of tasks stay readable after their superstep was applied.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use superstep::checkpoint::CheckpointQuery;
use superstep::interrupt::Question;
use superstep::thread::{Snapshot, Thread, as_node};
use superstep::{Context, Durability, END, Graph, GraphState, Overwrite, Route, START, StateGraph};

use super::stores::on_every_store;

#[derive(GraphState, Clone, Debug)]
struct Notes {
    #[state(input, reducer = append)]
    notes: Vec<String>,
    #[state(reducer = max)]
    best: u32,
    title: String,
    #[state(exclude)]
    card: String,
    #[state(exclude, reducer = max)]
    pin: u32,
    #[state(ephemeral)]
    hint: Option<u8>,
}

fn say(text: &str) -> NotesUpdate {
    Notes::update().notes([text.to_owned()])
}

async fn left(_: &Notes) -> NotesUpdate {
    say("left").best(1_u32)
}

async fn right(_: &Notes) -> NotesUpdate {
    say("right").best(2_u32).title("new").card("4711").pin(4711_u32)
}

async fn quiet(_: &Notes) {}

async fn last(_: &Notes) -> NotesUpdate {
    say("last").hint(1)
}

async fn reads(_: &Notes) -> NotesUpdate {
    Notes::update().title("read")
}

fn graph() -> Graph<Notes> {
    StateGraph::<Notes>::new()
        .edge(START, (left, quiet, right))
        .join((left, quiet, right), last)
        .edge(last, reads)
        .edge(reads, END)
        .compile()
        .unwrap()
}

/// The tasks of a snapshot: the node, the status, the result and the whole values.
fn tasks(snapshot: &Snapshot<Notes>) -> Value {
    let json = serde_json::to_value(snapshot).unwrap();
    let task = |task: &Value| json!([task["node"], task["status"], task["result"], task["whole_values"]]);
    json["tasks"].as_array().unwrap().iter().map(task).collect()
}

async fn history(thread: &Thread<Notes>) -> Vec<Value> {
    let history = thread.history().await.unwrap();
    for snapshot in &history {
        let alone = thread.at(snapshot.id).state().await.unwrap().unwrap();
        assert_eq!(serde_json::to_value(&alone).unwrap(), serde_json::to_value(snapshot).unwrap());
        assert!(!format!("{alone:?}{}", tasks(&alone)).contains("4711"));
    }
    history.iter().rev().map(tasks).collect()
}

#[tokio::test]
async fn history_shows_the_result_of_each_task() {
    on_every_store(async |store| {
        let graph = graph();
        let input = Notes::input().notes(["in".to_owned()]);
        store.thread(&graph).run(input).await.unwrap();
        let thread = store.thread(&graph);
        let found = history(&thread).await;
        assert_eq!(
            found[0],
            json!([["START", "finished", [{"notes": ["in"]}], null]]),
            "the input sets what the state had not yet"
        );
        // One task was the last to finish. The store has the value of `best` after the superstep for it.
        let own =
            [json!({"best": 1, "notes": ["left"]}), json!({"best": 2, "notes": ["right"], "title": "new"})];
        for (task, own) in [(&found[1][0], &own[0]), (&found[1][2], &own[1])] {
            let mut whole = own.clone();
            whole.as_object_mut().unwrap().remove("best");
            whole["$overwrite"] = json!({"best": 2});
            let (exact, last) = (json!([[own], null]), json!([[whole], ["best"]]));
            let result = json!([task[2], task[3]]);
            assert!(task[1] == "finished" && (result == exact || result == last), "{task}");
        }
        assert_eq!(found[1][1], json!(["quiet", "finished", [], null]));
        assert_eq!(found[2], json!([["last", "finished", [{"notes": ["last"], "hint": 1}], null]]));
        // `hint` was cleared in this superstep, by no task.
        assert_eq!(found[3], json!([["reads", "finished", [{"title": "read"}], null]]));
        assert_eq!(found[4], json!([]));
    })
    .await;
}

#[tokio::test]
async fn superstep_of_one_task_stores_no_byte_for_its_result() {
    async fn add(_: &Notes) -> NotesUpdate {
        say("added").best(3_u32).title("t")
    }
    on_every_store(async |store| {
        let graph = StateGraph::<Notes>::new().edge(START, add).edge(add, END).compile().unwrap();
        let thread = store.thread(&graph);
        thread.run(Notes::input()).await.unwrap();
        let stored = store.open().list(CheckpointQuery::new("t")).await.unwrap().items;
        assert!(stored.iter().all(|checkpoint| checkpoint.progress.is_none()), "{stored:?}");
        let found = history(&thread).await;
        let result = json!([{"notes": ["added"], "title": "t", "$overwrite": {"best": 3}}]);
        assert_eq!(found[1], json!([["add", "finished", result, ["best"]]]));
    })
    .await;
}

#[derive(Route)]
enum Fan {
    #[to(part)]
    Part(u32),
}

async fn spread(_: &Notes) -> Vec<Fan> {
    (0..300).map(Fan::Part).collect()
}

async fn part(packet: &u32) -> NotesUpdate {
    say(&format!("{packet}"))
}

#[tokio::test]
async fn wide_superstep_stores_a_few_bytes_for_its_results() {
    on_every_store(async |store| {
        let graph = StateGraph::<Notes>::new().edge(START, spread).edge(part, END).compile().unwrap();
        let thread = store.thread(&graph);
        thread.run(Notes::input()).await.unwrap();
        let head = store.open().get("t", "", None).await.unwrap().found.unwrap().checkpoint;
        let bytes = head.progress.map_or(0, |progress| progress.len());
        assert!(bytes < 64, "{bytes}");
        let history = thread.history().await.unwrap();
        for (nth, task) in history[1].tasks.iter().enumerate() {
            let result = serde_json::to_value(task.result.as_ref().unwrap()).unwrap();
            // The last task may have found the list worth storing as a whole.
            assert!(
                result == json!({"notes": [nth.to_string()]}) || !task.whole_values.is_empty(),
                "{nth}: {result}"
            );
        }
        assert!(history[1].tasks.iter().filter(|task| !task.whole_values.is_empty()).count() <= 1);
    })
    .await;
}

#[tokio::test]
async fn writes_cancelled_by_a_sibling_are_no_result_of_the_last_task() {
    async fn replace(_: &Notes) -> NotesUpdate {
        Notes::update().notes(Overwrite(vec!["only".to_owned()]))
    }
    on_every_store(async |store| {
        let graph =
            StateGraph::<Notes>::new().edge(START, (replace, left)).edge(replace, END).edge(left, END);
        let thread = store.thread(&graph.compile().unwrap());
        thread.run(Notes::input().notes(["in".to_owned()])).await.unwrap();
        let found = &history(&thread).await[1];
        assert_eq!(found[0][2], json!([{"$overwrite": {"notes": ["only"]}}]), "{found}");
        assert_eq!(found[1][1], "finished");
    })
    .await;
}

#[derive(Serialize, Deserialize)]
struct Go;

impl Question for Go {
    type Answer = String;
}

async fn ask(_: &Notes, cx: &Context) -> NotesUpdate {
    say(&cx.interrupt(Go).await)
}

fn asking() -> Graph<Notes> {
    StateGraph::<Notes>::new().edge(START, (ask, left)).edge(ask, END).edge(left, END).compile().unwrap()
}

#[tokio::test]
async fn update_of_a_resume_is_no_result_of_a_task() {
    on_every_store(async |store| {
        let graph = StateGraph::<Notes>::new().edge(START, ask).edge(ask, END).compile().unwrap();
        let thread = store.thread(&graph);
        thread.run(Notes::input()).await.unwrap();
        let open = thread.interrupts().await.unwrap();
        let answer = open.interrupts()[0].answer_json(json!("yes"));
        thread.resume(answer).update(say("told").title("told")).await.unwrap();
        assert_eq!(thread.state().await.unwrap().unwrap().state.unwrap().notes, ["told", "yes"]);
        assert_eq!(history(&thread).await[1], json!([["ask", "finished", [{"notes": ["yes"]}], null]]));
    })
    .await;
}

#[tokio::test]
async fn update_from_outside_leaves_pending_tasks_without_result() {
    on_every_store(async |store| {
        let thread = store.thread(&asking());
        thread.run(Notes::input()).await.unwrap();
        thread.update(say("for ask"), as_node(ask)).await.unwrap();
        let found = history(&thread).await;
        assert_eq!(found[1][0], json!(["ask", "waiting_for_answer", null, null]));
        assert_eq!(found[1][1][1], "finished");
        let head = thread.state().await.unwrap().unwrap();
        assert_eq!(head.updated_as.iter().map(|name| &**name).collect::<Vec<_>>(), ["ask"]);
        assert_eq!(serde_json::to_value(&head).unwrap()["updated_as"], json!(["ask"]));
    })
    .await;
}

#[tokio::test]
async fn each_branch_shows_its_own_results() {
    on_every_store(async |store| {
        let graph = graph();
        let thread = store.thread(&graph);
        thread.run(Notes::input()).await.unwrap();
        let before = history(&thread).await;
        let planned_last = thread.history().await.unwrap()[2].id;
        thread.at(planned_last).run_again().await.unwrap();
        thread.at(planned_last).update(say("instead"), as_node(last)).await.unwrap();
        let after = history(&thread).await;
        assert_eq!(after[..before.len()], before);
        let fork = &after[before.len()];
        assert_eq!(*fork, json!([["last", "finished", [{"notes": ["last"], "hint": 1}], null]]));
        // The update has not run the task that it planned.
        assert_eq!(*after.last().unwrap(), json!([["reads", "planned", null, null]]));
    })
    .await;
}

#[tokio::test]
async fn merged_checkpoint_shows_no_results() {
    on_every_store(async |store| {
        let graph =
            StateGraph::<Notes>::new().edge(START, ask).edge(ask, last).edge(last, reads).edge(reads, END);
        let thread = store.thread(&graph.compile().unwrap());
        thread.run(Notes::input()).await.unwrap();
        let open = thread.interrupts().await.unwrap();
        let answer = open.interrupts()[0].answer_json(json!("yes"));
        thread.resume(answer).durability(Durability::Exit).await.unwrap();
        let found = history(&thread).await;
        assert_eq!(found.len(), 3, "three supersteps are one checkpoint");
        assert_eq!(found[1], json!([["ask", "planned", null, null]]));
    })
    .await;
}

#[tokio::test]
async fn subgraph_calls_show_the_results_of_their_tasks() {
    on_every_store(async |store| {
        let inner = StateGraph::<Notes>::new().edge(START, (left, quiet)).edge(left, END).edge(quiet, END);
        let inner = inner.compile().unwrap().as_node("inner");
        let graph = StateGraph::<Notes>::new().edge(START, &inner).edge(&inner, END).compile().unwrap();
        let thread = store.thread(&graph);
        thread.run(Notes::input().notes(["in".to_owned()])).await.unwrap();
        let calls = thread.within(&inner).history().await.unwrap();
        let planned = tasks(&calls[1]);
        assert_eq!(planned[0][1], "finished");
        assert_eq!(planned[0][2][0]["notes"], json!(["left"]), "{planned}");
        assert_eq!(planned[1], json!(["quiet", "finished", [], null]));
        let outer = &history(&thread).await[1][0];
        assert_eq!(outer[2][0]["notes"], json!(["left"]), "{outer}");
    })
    .await;
}
