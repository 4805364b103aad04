use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::checkpoint::MemoryCheckpointer;
use superstep::interrupt::{InterruptMismatch, Question};
use superstep::{Context, END, ErrorKind, GraphState, Outcome, START, StateGraph};

#[derive(GraphState, Clone, Debug)]
struct Form {
    #[state(reducer = append)]
    answers: Vec<String>,
}

#[derive(Serialize, Deserialize, Debug)]
struct Line {
    number: usize,
}

impl Question for Line {
    type Answer = String;
}

async fn fill(_: &Form, cx: &Context) -> FormUpdate {
    let mut answers = Vec::new();
    for number in 0..4 {
        answers.push(cx.interrupt(Line { number }).await);
    }
    Form::update().answers(answers)
}

#[tokio::test]
async fn sequential_answers_survive_every_resume() {
    let graph = StateGraph::<Form>::new().edge(START, fill).edge(fill, END).compile().unwrap();
    let store = MemoryCheckpointer::default();
    graph.with_checkpointer(store.clone()).thread("1").run(Form::input()).await.unwrap();
    for number in 0..4 {
        // A new handle stands for another process.
        let thread = graph.with_checkpointer(store.clone()).thread("1");
        let open = thread.interrupts().await.unwrap().only::<Line>().unwrap();
        assert_eq!(open.number, number);
        let outcome = thread.resume(open.answer(format!("line {number}"))).await.unwrap();
        assert_eq!(matches!(outcome, Outcome::Done(_)), number == 3);
    }
    let thread = graph.with_checkpointer(store).thread("1");
    let form = thread.state().await.unwrap().unwrap().state.unwrap();
    assert_eq!(form.answers, ["line 0", "line 1", "line 2", "line 3"]);
}

#[tokio::test]
async fn answer_without_an_id_needs_one_open_interrupt() {
    async fn two(_: &Form, cx: &Context) -> FormUpdate {
        let (first, second) =
            tokio::join!(cx.interrupt(Line { number: 0 }), cx.interrupt(Line { number: 1 }).keyed("b"));
        let third = cx.interrupt(Line { number: 2 }).await;
        Form::update().answers([first, second, third])
    }
    let graph = StateGraph::<Form>::new().edge(START, two).edge(two, END).compile().unwrap();
    let thread = graph.with_checkpointer(MemoryCheckpointer::default()).thread("1");
    let none = thread.interrupts().await.unwrap().answer_json(json!("x")).unwrap_err();
    assert_eq!(none.to_string(), "an answer without an id needs exactly one open question, but none is open");

    let outcome = thread.run(Form::input()).await.unwrap();
    let open = outcome.pause().unwrap();
    let ids: Vec<String> = open.interrupts().iter().map(|open| open.id.clone()).collect();
    assert_eq!(ids.len(), 2);
    let several = open.answer_json(json!("x")).unwrap_err();
    assert_eq!(several, InterruptMismatch::NotExactlyOne { open: ids.clone() });
    assert!(ids.iter().all(|id| several.to_string().contains(id.as_str())), "{several}");

    let second = open.by_key::<Line>("b").unwrap().answer("second".to_owned());
    thread.resume(second).await.unwrap();
    let bare = || async { thread.interrupts().await.unwrap().answer_json(json!("first")).unwrap() };
    let (once, twice) = (bare().await, bare().await);
    thread.resume(once).await.unwrap();
    // The second answer was made for the same interrupt, and does not answer the one that is open now.
    let error = thread.resume(twice).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::InterruptNotOpen { .. }), "{error}");

    // A value of the wrong type is refused and leaves the interrupt open.
    let number = thread.interrupts().await.unwrap().answer_json(json!(3)).unwrap();
    let error = thread.resume(number).await.unwrap_err();
    assert!(format!("{error:?}").contains("expected a string"), "{error:?}");
    let third = thread.interrupts().await.unwrap().answer_json(json!("third")).unwrap();
    assert_eq!(thread.resume(third).await.unwrap().state().answers, ["first", "second", "third"]);
}
