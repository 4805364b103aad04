use superstep::StateGraph;

struct Ticket {
    question: String,
}

fn main() {
    let _graph = StateGraph::<Ticket>::new();
    let _ = Ticket { question: String::new() }.question;
}
