//! Interrupts and their answers.

use serde_json::json;
use superstep::interrupt::Answer;

use super::fan_out::*;
use super::growth;

growth! {
    open_interrupts: Stores, 2_000 => async |at| {
        let thread = asked(at).await;
        assert_eq!(at.cost(async { thread.interrupts().await.unwrap() }).await.interrupts().len(), at.n);
    };
    answers_of_one_resume: Both, 1_000 => async |at| {
        let thread = asked(at).await;
        let open = thread.interrupts().await.unwrap();
        let answers: Vec<Answer> = open.interrupts().iter().map(|open| open.answer_json(json!(true))).collect();
        let outcome = at.cost(async { thread.resume(answers).await.unwrap() }).await;
        assert_eq!(outcome.state().done.len(), at.n);
    };
    answers_in_another_version: Both, 500 => async |at| {
        asked(at).await;
        let thread = asking_newer::stored(at).thread("t");
        let open = thread.interrupts().await.unwrap().all::<newer::Approve>().unwrap();
        let answers: Vec<Answer> = open.iter().map(|open| open.answer(true)).collect();
        let outcome = at.cost(async { thread.resume(answers).await.unwrap() }).await;
        assert_eq!(outcome.state().done.len(), at.n);
    };
    one_answer_of_many_questions: Both, 1_000 => async |at| {
        let thread = asked(at).await;
        let open = thread.interrupts().await.unwrap();
        let answer = open.interrupts().last().unwrap().answer_json(json!(true));
        at.cost(async { thread.resume(answer).await.unwrap() }).await;
    };
    answers_in_a_stepped_run: Runtimes, 1_000 => async |at| {
        let mut run = asking::graph().run(Fan::input(at.n)).start().unwrap();
        while run.step().await.unwrap() {}
        let open = run.pause().unwrap();
        let answers: Vec<Answer> = open.interrupts().iter().map(|open| open.answer_json(json!(true))).collect();
        at.cost(async { run.answer(answers).unwrap() }).await;
        assert_eq!(at.cost(run.finish()).await.unwrap().state().done.len(), at.n);
    };
}
