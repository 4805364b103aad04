use graph_core::checkpoint::MemoryCheckpointer;
use graph_core::interrupt::Question;
use graph_core::{Cx, END, GraphState, Outcome, START, StateGraph};
use serde::{Deserialize, Serialize};

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

async fn fill(_: &Form, cx: &Cx) -> FormUpdate {
    let mut answers = Vec::new();
    for number in 0..4 {
        answers.push(cx.interrupt(Line { number }).await);
    }
    Form::update().answers(answers)
}

#[tokio::test]
async fn answers_to_questions_one_after_the_other_are_kept_over_every_resumption() {
    let graph = StateGraph::<Form>::new().edge(START, fill).edge(fill, END).compile().unwrap();
    let store = MemoryCheckpointer::default();
    graph.with_checkpointer(store.clone()).thread("1").run(Form::input()).await.unwrap();
    for number in 0..4 {
        // Another process, so to speak.
        let thread = graph.with_checkpointer(store.clone()).thread("1");
        let open = thread.pending().await.unwrap().only::<Line>().unwrap();
        assert_eq!(open.number, number);
        let outcome = thread.resume(open.answer(format!("line {number}"))).await.unwrap();
        assert_eq!(matches!(outcome, Outcome::Done(_)), number == 3);
    }
    let thread = graph.with_checkpointer(store).thread("1");
    let form = thread.state().await.unwrap().unwrap().state.unwrap();
    assert_eq!(form.answers, ["line 0", "line 1", "line 2", "line 3"]);
}
