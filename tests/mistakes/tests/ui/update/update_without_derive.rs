use superstep::checkpoint::MemoryCheckpointer;
use superstep::thread::as_node;
use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Chat {
    #[state(reducer = append)]
    log: Vec<String>,
}

#[derive(GraphState, Clone, Default)]
struct Ticket {
    question: String,
    confidence: f32,
    answer: Option<String>,
    #[state(reducer = append)]
    notes: Vec<String>,
    #[state(flatten)]
    chat: Chat,
}

struct Answered {
    answer: String,
}

async fn answer(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

fn main() {
    let graph = StateGraph::<Ticket>::new().edge(START, answer).edge(answer, END).compile().unwrap();
    let graph = graph.with_checkpointer(MemoryCheckpointer::new());
    let answered = Answered { answer: String::new() };
    let _ = &answered.answer;
    let _ = graph.thread("17").update(answered, as_node(answer));
}
