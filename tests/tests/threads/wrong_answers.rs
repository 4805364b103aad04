//! An answer from a client that does not fit the question's answer type is refused before anything is written.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use superstep::interrupt::{Answer, InterruptMismatch, Question};
use superstep::thread::Thread;
use superstep::{Context, END, Error, ErrorKind, Graph, GraphState, START, StateGraph};

use super::stores::{TestStore, on_every_store};

#[derive(GraphState, Clone, Debug)]
struct Post {
    #[state(input)]
    text: String,
    #[state(reducer = append)]
    said: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Review {
    text: String,
}

#[derive(Serialize, Deserialize, Debug)]
struct Verdict {
    approved: bool,
    stars: u8,
    comment: Option<String>,
}

impl Question for Review {
    type Answer = Verdict;
}

/// A question with a schema of its own.
#[derive(Serialize, Deserialize)]
struct Even;

impl Question for Even {
    type Answer = u8;

    fn answer_schema() -> Option<Value> {
        Some(json!({"enum": [0, 2, 4]}))
    }
}

async fn review(post: &Post, cx: &Context) -> PostUpdate {
    let verdict = cx.interrupt(Review { text: post.text.clone() }).await;
    Post::update().said([format!("{verdict:?}")])
}

async fn count(_: &Post, cx: &Context) -> PostUpdate {
    Post::update().said([format!("{}", cx.interrupt(Even).await)])
}

fn graph() -> Graph<Post> {
    StateGraph::<Post>::new()
        .edge(START, (review, count))
        .edge(review, END)
        .edge(count, END)
        .compile()
        .unwrap()
}

/// Everything that is stored of the thread.
async fn stored(store: &TestStore) -> String {
    let mut loaded = store.open().get("t", "", None).await.unwrap();
    let mut found = loaded.found.take().unwrap();
    // A store returns the fields in any order.
    found.fields.clear();
    let records: Vec<_> = found.records.iter().map(|record| record.payload.bytes()).collect();
    format!("{:?} {found:?} {records:?}", loaded.fence)
}

async fn refused(thread: &Thread<Post>, answers: Vec<Answer>) -> String {
    let error: Error = thread.resume(answers).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidAnswer { .. }), "{error}");
    error.to_string()
}

#[tokio::test]
async fn answer_of_the_wrong_type_is_refused_and_changes_nothing() {
    on_every_store(async |store| {
        store.thread(&graph()).run(Post::input("Helo")).await.unwrap();
        let before = stored(store).await;
        let thread = store.thread(&graph());
        let pause = thread.interrupts().await.unwrap();
        let [open, even] = pause.interrupts() else { panic!("{pause:?}") };
        assert_eq!(open.answer_schema.as_ref().unwrap()["required"], json!(["approved", "stars"]));

        let id = open.id.as_str();
        let error = refused(&thread, vec![open.answer_json(json!("yes"))]).await;
        let expected = format!(
            "graph `Post`: the answer to question `{id}` was refused: it does not fit the answer type of `Review`: at \
             `$`: expected an object, but got a string; nothing was stored: send an answer that fits the question's \
             `answer_schema`, or have it asked again with `resume(())` if its type has changed since"
        );
        assert_eq!(error, expected);
        for (answer, reason) in [
            (json!({"stars": 1}), "`$`: the key `approved` is missing"),
            (json!({"approved": true, "stars": 256}), "`$.stars`: expected a number of at most 255"),
            (json!({"approved": true, "stars": -1}), "`$.stars`: expected a number of at least 0"),
            (json!({"approved": 1, "stars": 1}), "`$.approved`: expected a boolean, but got a number"),
            (json!({"approved": true, "stars": 1, "comment": []}), "`$.comment`: expected a string or null"),
            (json!(null), "`$`: expected an object, but got null"),
            (json!([[]]), "`$`: expected an object, but got an array"),
            (json!([true, 5, null]), "`$`: expected an object, but got an array"),
            (json!({"approved": true, "stars": 5.0}), "`$.stars`: expected a whole number, but got a number with a"),
        ] {
            let error = refused(&thread, vec![Answer::json(id, answer.clone())]).await;
            assert!(error.contains(reason), "{answer}: {error}");
            let mismatch = open.check_answer(&answer).unwrap_err();
            assert!(matches!(&mismatch, InterruptMismatch::WrongAnswer { .. }), "{mismatch}");
            assert!(mismatch.to_string().contains(reason), "{mismatch}");
        }
        // One wrong answer of several: none is stored.
        let right = || open.answer_json(json!({"approved": true, "stars": 5}));
        let error = refused(&thread, vec![right(), even.answer_json(json!(3))]).await;
        assert!(error.contains("`Even`: at `$`: expected `0` or `2` or `4`"), "{error}");

        assert_eq!(stored(store).await, before);
        let thread = store.thread(&graph());
        let outcome = thread.resume([right(), even.answer_json(json!(4))]).await.unwrap();
        let said = &outcome.state().said;
        assert_eq!(said, &["Verdict { approved: true, stars: 5, comment: None }", "4"]);
    })
    .await;
}

/// A question whose schema has limits that the type does not know.
#[derive(Serialize, Deserialize)]
struct Grant;

#[derive(Serialize, Deserialize, Debug)]
struct Granted {
    cents: u32,
    reason: String,
}

impl Question for Grant {
    type Answer = Granted;

    fn answer_schema() -> Option<Value> {
        Some(json!({
            "type": "object",
            "required": ["cents", "reason"],
            "properties": {"cents": {"type": "integer", "maximum": 1000}, "reason": {"minLength": 1}},
        }))
    }
}

#[derive(Serialize, Deserialize)]
struct Choose;

#[derive(Serialize, Deserialize, Debug)]
enum Choice {
    Yes,
    No { reason: String },
}

impl Question for Choose {
    type Answer = Choice;
}

async fn decide(_: &Post, cx: &Context) -> PostUpdate {
    let granted = cx.interrupt(Grant).await;
    Post::update().said([format!("{granted:?} {:?}", cx.interrupt(Choose).await)])
}

#[tokio::test]
async fn answer_in_another_form_than_the_schema_shows_is_refused() {
    let graph = StateGraph::<Post>::new().edge(START, decide).edge(decide, END).compile().unwrap();
    on_every_store(async |store| {
        let thread = store.thread(&graph);
        thread.run(Post::input("Helo")).await.unwrap();
        for answers in [
            [json!([99_999, ""]), json!({"cents": 99_999, "reason": "x"}), json!({"cents": 1, "reason": ""})],
            [json!({"Yes": null}), json!({"No": ["b"]}), json!({"No": {}})],
        ] {
            let open = thread.interrupts().await.unwrap().interrupts()[0].clone();
            for answer in answers {
                assert!(open.check_answer(&answer).is_err(), "{answer}");
                refused(&thread, vec![open.answer_json(answer)]).await;
            }
            let right = json!({"cents": 1, "reason": "x"});
            let right = if open.name == "Grant" { right } else { json!({"No": {"reason": "b"}}) };
            thread.resume(open.answer_json(right)).await.unwrap();
        }
        let state = thread.state().await.unwrap().unwrap().state.unwrap();
        assert_eq!(state.said, ["Granted { cents: 1, reason: \"x\" } No { reason: \"b\" }"]);
    })
    .await;
}

#[tokio::test]
async fn typed_answer_is_not_checked_against_the_schema() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        thread.run(Post::input("Helo")).await.unwrap();
        let pause = thread.interrupts().await.unwrap();
        let odd = pause.only::<Even>().unwrap().answer(3);
        thread.resume(odd).await.unwrap();
        let verdict = pause.only::<Review>().unwrap();
        let verdict = verdict.answer(Verdict { approved: false, stars: 0, comment: None });
        assert_eq!(thread.resume(verdict).await.unwrap().state().said[1], "3");
    })
    .await;
}

#[tokio::test]
async fn run_in_memory_refuses_a_wrong_answer() {
    let mut run = graph().run(Post::input("Helo")).start().unwrap();
    while run.step().await.unwrap() {}
    let open = run.pause().unwrap().interrupts().to_vec();
    let right = open[0].answer_json(json!({"approved": true, "stars": 5}));
    let error = run.answer([right.clone(), open[1].answer_json(json!("2"))]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InvalidAnswer { .. }), "{error}");
    assert_eq!(run.pause().unwrap().interrupts(), open);
    run.answer([right, open[1].answer_json(json!(2))]).unwrap();
    assert_eq!(run.finish().await.unwrap().state().said.len(), 2);
}

#[tokio::test]
async fn question_of_a_subgraph_has_its_schema() {
    on_every_store(async |store| {
        let sub = StateGraph::<Post>::new().edge(START, review).edge(review, END).compile().unwrap();
        let node = sub.as_node("sub");
        let graph = StateGraph::<Post>::new().edge(START, &node).edge(&node, END).compile().unwrap();
        store.thread(&graph).run(Post::input("Helo")).await.unwrap();
        let before = stored(store).await;
        let thread = store.thread(&graph);
        let pause = thread.interrupts().await.unwrap();
        let error = refused(&thread, vec![pause.answer_json(json!({"approved": true})).unwrap()]).await;
        assert!(error.contains("the key `stars` is missing"), "{error}");
        assert_eq!(stored(store).await, before);
        let right = pause.answer_json(json!({"approved": true, "stars": 1})).unwrap();
        assert_eq!(thread.resume(right).await.unwrap().state().said.len(), 1);
    })
    .await;
}
