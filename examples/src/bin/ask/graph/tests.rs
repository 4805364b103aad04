use examples::Error as ChatError;
use examples::chat::{Chat, Prompt, Reply};
use examples::corpus::{Corpus, Kinds};
use examples::index::Index;
use graph_core::{ErrorKind, EventKind, StreamMode};

use super::*;

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

/// Who ran, superstep by superstep, and the state at the end.
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
async fn what_is_found_at_once_is_not_searched_again() {
    let (log, inquiry) = log("What is a join?").await;
    assert_eq!(log, ["plan", "search", "grade", "compose"]);
    let answer = inquiry.answer.unwrap();
    assert_eq!(answer.text, "   “A join waits until all of its sources have finished.” — a.md:3\n");
}

#[tokio::test]
async fn parts_are_searched_in_one_superstep_and_only_weak_ones_again() {
    let (log, inquiry) = log("What is a join? What is a chekcpoint?").await;
    assert_eq!(log, ["plan", "search search", "grade", "rewrite", "search", "grade", "compose"]);
    let queries: Vec<_> = inquiry.searches.iter().map(|search| search.query.stems.join(" ")).collect();
    assert_eq!(queries, ["join", "chekcpoint", "checkpoint"]);
    let lines: Vec<_> = inquiry.answer.unwrap().quotations.iter().map(|quotation| quotation.line).collect();
    assert_eq!(lines, [3, 7]);
}

#[tokio::test]
async fn what_is_nowhere_is_given_up() {
    let (log, inquiry) = log("How do zebras dance?").await;
    assert_eq!(log, ["plan", "search", "grade", "rewrite", "compose"]);
    assert_eq!(inquiry.answer, None);
}

#[tokio::test]
async fn a_question_without_words_fails_in_the_node_that_reads_it() {
    let error = graph().unwrap().run(Inquiry::input("why?")).context(library(None)).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Node { first, .. } if first.node == "plan"), "{error}");
    let error = graph().unwrap().run(Inquiry::input("")).context(library(None)).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Validation { .. }), "{error}");
}

struct Parrot(Option<&'static str>);

impl Chat for Parrot {
    fn model(&self) -> &str {
        "parrot"
    }

    fn reply<'a>(&'a self, prompt: &'a Prompt) -> Reply<'a> {
        Box::pin(async move {
            assert!(prompt.user.contains("[1] a.md:3\nA join waits"), "{}", prompt.user);
            self.0.map(str::to_owned).ok_or(ChatError::ChatSetup("it is asleep"))
        })
    }
}

#[tokio::test]
async fn a_model_writes_from_the_quotations() {
    let library = library(Some(Box::new(Parrot(Some("It waits [1].")))));
    let run = graph().unwrap().run(Inquiry::input("What is a join?")).context(library);
    let mut events = run.events([StreamMode::Custom]).stream();
    let asking = events.next().await.unwrap().unwrap();
    assert!(matches!(&asking.kind, EventKind::Custom { node, .. } if &**node == "compose"));
    let done = events.next().await.unwrap().unwrap();
    let EventKind::Done(outcome) = done.kind else { panic!("{done:?}") };
    assert_eq!(outcome.into_state().answer.unwrap().text, "It waits [1].\n\n[1] a.md:3\n");
}

#[tokio::test]
async fn a_model_that_fails_leaves_what_was_found() {
    let library = library(Some(Box::new(Parrot(None))));
    let error = graph().unwrap().run(Inquiry::input("What is a join?")).context(library).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Node { first, .. } if first.node == "compose"), "{error}");
    assert_eq!(error.state::<Inquiry>().unwrap().searches.len(), 1);
}
