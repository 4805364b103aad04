use examples::Error as ChatError;
use examples::chat::{Chat, Prompt, Reply};
use examples::corpus::{Corpus, Kinds};
use examples::index::Index;
use superstep::checkpoint::MemoryCheckpointer;
use superstep::{ErrorKind, EventKind, StreamMode};

use super::*;
use crate::inquiry::OtherWords;

const DOCUMENT: &str = "\
# Joins

A join waits until all of its sources have finished.

# Checkpoints

A checkpoint holds the state after a superstep.

# Weather

Rain is expected in the north.
";

fn library(chat: Option<Box<dyn Chat>>) -> Library {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.md"), DOCUMENT).unwrap();
    let corpus = Corpus::read(folder.path(), Kinds::Text).unwrap();
    Library { index: Index::new(corpus.passages).unwrap(), chat }
}

/// Runs a question. Returns the nodes of each superstep and the final state.
async fn log(question: &str) -> (Vec<String>, Inquiry) {
    let run = graph().unwrap().run(Inquiry::input(question)).context(library(None));
    let mut stepper = run.start().unwrap();
    let mut log = Vec::new();
    loop {
        let planned = stepper.next().join(" ");
        if !stepper.step().await.unwrap() {
            return (log, stepper.finish().await.unwrap().into_state());
        }
        log.push(planned);
    }
}

#[tokio::test]
async fn good_result_needs_one_search() {
    let (log, inquiry) = log("What is a join?").await;
    assert_eq!(log, ["plan", "search", "grade", "compose"]);
    let answer = inquiry.answer.unwrap();
    assert_eq!(answer.text, "   “A join waits until all of its sources have finished.” — a.md:3\n");
}

#[tokio::test]
async fn only_weak_parts_are_searched_again() {
    let (log, inquiry) = log("What is a join? What is a chekcpoint?").await;
    assert_eq!(log, ["plan", "search search", "grade", "rewrite", "search", "grade", "compose"]);
    let queries: Vec<_> = inquiry.searches.iter().map(|search| search.query.stems.join(" ")).collect();
    assert_eq!(queries, ["join", "chekcpoint", "checkpoint"]);
    let lines: Vec<_> = inquiry.answer.unwrap().quotations.iter().map(|quotation| quotation.line).collect();
    assert_eq!(lines, [3, 7]);
}

/// Runs a question with answers to its interrupts. Returns the interrupts and the final state.
async fn run_with_answers(question: &str, answers: &[&str]) -> (Vec<String>, Inquiry) {
    let graph = graph().unwrap().with_checkpointer(MemoryCheckpointer::default());
    let thread = graph.thread("1");
    let mut outcome = thread.run(Inquiry::input(question)).context(library(None)).await.unwrap();
    let mut asked = Vec::new();
    for answer in answers {
        let open = outcome.pause().unwrap().only::<OtherWords>().unwrap();
        asked.push(format!("{} after {}", open.part, open.searches));
        let answer = open.answer((*answer).to_owned());
        outcome = thread.resume(answer).context(library(None)).await.unwrap();
    }
    assert!(outcome.pause().is_none());
    (asked, outcome.into_state())
}

#[tokio::test]
async fn user_is_asked_if_nothing_is_found() {
    let (asked, inquiry) = run_with_answers("How do zebras dance? What is a join?", &["checkpoint"]).await;
    assert_eq!(asked, ["How do zebras dance after 1"]);
    let lines: Vec<_> = inquiry.answer.unwrap().quotations.iter().map(|quotation| quotation.line).collect();
    assert_eq!(lines, [7, 3]);
}

#[tokio::test]
async fn user_is_asked_once_for_each_part() {
    let (asked, inquiry) =
        run_with_answers("How do zebras dance? Do unicorns sing?", &["giraffes", ""]).await;
    assert_eq!(asked, ["How do zebras dance after 1", "Do unicorns sing after 1"]);
    assert_eq!(inquiry.answer, None);
    assert_eq!(inquiry.consulted, [0, 1]);
}

#[tokio::test]
async fn next_question_starts_without_old_searches() {
    let thread = graph().unwrap().with_checkpointer(MemoryCheckpointer::default()).thread("1");
    let ask = |question: &str| thread.run(Inquiry::input(question)).context(library(None));
    ask("What is a join?").await.unwrap();
    let inquiry = ask("Where is rain?").await.unwrap().into_state();
    assert_eq!(inquiry.searches.len(), 1);
    assert_eq!(inquiry.answer.unwrap().text, "   “Rain is expected in the north.” — a.md:11\n");
}

#[tokio::test]
async fn question_without_words_fails_in_plan() {
    let error = graph().unwrap().run(Inquiry::input("why?")).context(library(None)).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Node { first, .. } if first.node == "plan"), "{error}");
    let error = graph().unwrap().run(Inquiry::input("")).context(library(None)).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Validation { .. }), "{error}");
}

struct FixedReply(Option<&'static str>);

impl Chat for FixedReply {
    fn model(&self) -> &str {
        "fixed"
    }

    fn reply<'a>(&'a self, prompt: &'a Prompt) -> Reply<'a> {
        Box::pin(async move {
            assert!(prompt.user.contains("[1] a.md:3\nA join waits"), "{}", prompt.user);
            self.0.map(str::to_owned).ok_or(ChatError::ChatSetup("no reply"))
        })
    }
}

#[tokio::test]
async fn model_writes_the_answer_from_quotations() {
    let library = library(Some(Box::new(FixedReply(Some("It waits [1].")))));
    let run = graph().unwrap().run(Inquiry::input("What is a join?")).context(library);
    let mut events = run.events([StreamMode::Custom]).stream();
    let calling = events.next().await.unwrap().unwrap();
    assert!(matches!(&calling.kind, EventKind::Custom { node, .. } if &**node == "compose"));
    let done = events.next().await.unwrap().unwrap();
    let EventKind::Done(outcome) = done.kind else { panic!("{done:?}") };
    assert_eq!(outcome.into_state().answer.unwrap().text, "It waits [1].\n\n[1] a.md:3\n");
}

#[tokio::test]
async fn failed_model_call_keeps_the_searches() {
    let library = library(Some(Box::new(FixedReply(None))));
    let error = graph().unwrap().run(Inquiry::input("What is a join?")).context(library).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Node { first, .. } if first.node == "compose"), "{error}");
    assert_eq!(error.state::<Inquiry>().unwrap().searches.len(), 1);
}
