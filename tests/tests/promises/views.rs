//! A view shows a node what it needs of the state, by the names and types of the state's fields.

use graph_core::{GraphState, StateView};

#[derive(Clone, Debug, Default, PartialEq)]
struct Message(String);

#[derive(GraphState, Clone, Default)]
struct Chat {
    #[state(untracked)]
    log: Vec<Message>,
}

#[derive(GraphState, Clone, Default)]
struct Ticket {
    question: String,
    notes: Vec<String>,
    confidence: f32,
    answer: Option<String>,
    r#type: String,
    #[state(flatten)]
    chat: Chat,
}

#[derive(StateView)]
#[view(of = Ticket)]
struct Question<'a> {
    question: &'a str,
    notes: &'a [String],
    confidence: f32,
    answer: Option<&'a str>,
    r#type: &'a String,
    #[view(from = chat.log)]
    said: &'a [Message],
}

#[derive(StateView, Debug, PartialEq)]
#[view(of = Ticket)]
struct Answer {
    answer: Option<String>,
    #[view(from = chat.log)]
    log: Vec<Message>,
}

#[derive(StateView)]
#[view(of = Chat)]
struct Said<'a> {
    log: &'a Vec<Message>,
}

#[derive(GraphState, Clone)]
struct Generic<T: Clone + Send + Sync + 'static> {
    #[state(untracked, default = Vec::new())]
    items: Vec<T>,
}

#[derive(StateView)]
#[view(of = Generic<T>)]
struct Items<'a, T: Clone + Send + Sync + 'static> {
    items: &'a [T],
}

fn ticket() -> Ticket {
    Ticket {
        question: "why?".to_owned(),
        notes: vec!["empty".to_owned()],
        confidence: 0.5,
        answer: Some("because".to_owned()),
        r#type: "invoice".to_owned(),
        chat: Chat { log: vec![Message("hello".to_owned())] },
    }
}

#[test]
fn a_borrowed_view_copies_nothing() {
    let ticket = ticket();
    let view = Question::of(&ticket);
    assert_eq!(view.question, "why?");
    assert!(std::ptr::eq(view.notes, ticket.notes.as_slice()));
    assert_eq!(view.confidence, 0.5);
    assert_eq!(view.answer, Some("because"));
    assert!(std::ptr::eq(view.r#type, &ticket.r#type));
    assert!(std::ptr::eq(view.said, ticket.chat.log.as_slice()));
}

#[test]
fn an_owned_view_outlives_the_state() {
    let view = Answer::of(&ticket());
    assert_eq!(view, Answer { answer: Some("because".to_owned()), log: vec![Message("hello".to_owned())] });
}

#[test]
fn a_view_may_be_of_a_flattened_or_a_generic_state() {
    assert_eq!(Said::of(&ticket().chat).log.len(), 1);
    assert_eq!(Items::of(&Generic { items: vec![1, 2] }).items, [1, 2]);
}
