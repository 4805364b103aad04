//! Derived views of a state.

use superstep::{Context, END, GraphState, START, StateGraph, StateView};

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
fn borrowed_view_copies_nothing() {
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
fn owned_view_outlives_the_state() {
    let view = Answer::of(&ticket());
    assert_eq!(view, Answer { answer: Some("because".to_owned()), log: vec![Message("hello".to_owned())] });
}

#[test]
fn views_of_flattened_and_generic_states_work() {
    assert_eq!(Said::of(&ticket().chat).log.len(), 1);
    assert_eq!(Items::of(&Generic { items: vec![1, 2] }).items, [1, 2]);
}

async fn answer(view: Question<'_>, cx: &Context) -> TicketUpdate {
    let _ = cx;
    Ticket::update().answer(format!("{} {}", view.question, view.notes.len()))
}

async fn correct(said: Said<'_>, view: Answer) -> TicketUpdate {
    Ticket::update().answer(view.answer.map(|answer| format!("{answer}, {} said", said.log.len())))
}

#[tokio::test]
async fn view_shows_the_state_at_the_superstep() {
    let graph = StateGraph::<Ticket>::new()
        .edge(START, answer)
        .edge(answer, correct)
        .edge(correct, END)
        .compile()
        .unwrap();
    let input = Ticket::input().question("why?").notes(vec!["a".to_owned(), "b".to_owned()]);
    let ticket = graph.run(input).await.unwrap().into_state();
    assert_eq!(ticket.answer.as_deref(), Some("why? 2, 0 said"));
}

async fn count<T: Clone + Send + Sync + 'static>(view: Items<'_, T>) {
    assert_eq!(view.items.len(), 0);
}

#[tokio::test]
async fn generic_node_takes_a_generic_view() {
    let graph =
        StateGraph::<Generic<u8>>::new().edge(START, count::<u8>).edge(count::<u8>, END).compile().unwrap();
    graph.run(Generic::<u8>::input()).await.unwrap();
}
