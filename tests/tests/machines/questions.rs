//! Interrupts, events and durable steps in the nodes of a machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::interrupt::Question;
use superstep::machine::{End, Machine, To, to};
use superstep::{ContextWith, EventKind, Result};

#[derive(Machine)]
#[machine(nodes(Ask, Answered), context = AtomicU32, output = String)]
struct Quiz;

#[derive(Serialize, Deserialize)]
struct Ask {
    question: String,
}

impl Question for Ask {
    type Answer = String;
}

impl Ask {
    async fn run(&self, cx: &ContextWith<AtomicU32>) -> Result<Answered> {
        let number = cx
            .step("number", async { Ok::<_, std::fmt::Error>(cx.context().fetch_add(1, Ordering::Relaxed)) });
        let number = number.await?;
        cx.emit(number).await;
        let answer = cx.interrupt(Self { question: format!("{number}: {}", self.question) }).await;
        Ok(Answered { answer })
    }
}

#[derive(Serialize, Deserialize)]
struct Answered {
    answer: String,
}

impl Answered {
    async fn run(&self) -> To<Quiz, (Ask, End<String>)> {
        if self.answer.is_empty() {
            to(Ask { question: "pardon?".to_owned() })
        } else {
            to(End(self.answer.clone()))
        }
    }
}

fn why() -> Ask {
    Ask { question: "why?".to_owned() }
}

#[tokio::test]
async fn answered_thread_does_not_repeat_durable_steps() {
    let quiz = Quiz::compile().unwrap().with_checkpointer(MemoryCheckpointer::new());
    let (thread, count) = (quiz.thread("ann"), Arc::new(AtomicU32::new(0)));
    let outcome = thread.run(Quiz::start(why())).context(Arc::clone(&count)).await.unwrap();
    assert_eq!(
        outcome.ended().unwrap_err().to_string(),
        "graph `Quiz`: there is no output yet: the run waits for an answer to `Ask`"
    );
    for (asked, answer) in [("0: why?", ""), ("1: pardon?", "because")] {
        let question = thread.interrupts().await.unwrap().only::<Ask>().unwrap();
        assert_eq!(question.question, asked);
        let outcome =
            thread.resume(question.answer(answer.to_owned())).context(Arc::clone(&count)).await.unwrap();
        if !answer.is_empty() {
            assert_eq!(outcome.ended().unwrap().output, "because");
        }
    }
    assert_eq!(count.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn stepped_run_accepts_an_answer() {
    let run = Quiz::compile().unwrap().run(why()).context(AtomicU32::new(0));
    let mut run = run.iter().unwrap();
    assert!(run.next().await.unwrap().is_none());
    let question = run.pause().unwrap().only::<Ask>().unwrap();
    run.answer([question.answer("because".to_owned())]).unwrap();
    assert_eq!(run.finish().await.unwrap().ended().unwrap().output, "because");
}

#[tokio::test]
async fn replacing_the_planned_node_discards_its_interrupt() {
    let run = Quiz::compile().unwrap().run(why()).context(AtomicU32::new(0));
    let mut run = run.iter().unwrap();
    assert!(run.next().await.unwrap().is_none());
    let old = run.pause().unwrap().only::<Ask>().unwrap();
    assert!(run.next_with(why()).await.unwrap().is_none());
    assert!(run.answer([old.answer("late".to_owned())]).is_err(), "another task asked it");
    run.next_with(Answered { answer: "never mind".to_owned() }).await.unwrap();
    assert_eq!(run.output().map(String::as_str), Some("never mind"));
}

#[tokio::test]
async fn emitted_values_reach_the_stream() {
    let mut emitted = Vec::new();
    let run = Quiz::compile().unwrap().run(why()).context(AtomicU32::new(7));
    let outcome = run.stream().for_each(|event| {
        if let EventKind::Custom { value, .. } = &event.kind {
            emitted.push(value.get::<u32>().copied());
        }
    });
    assert!(outcome.await.unwrap().pause().is_some());
    assert_eq!(emitted, [Some(7)]);
}
