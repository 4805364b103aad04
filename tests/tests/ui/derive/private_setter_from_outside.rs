mod ticket {
    #[derive(graph_core::GraphState, Clone)]
    pub struct Ticket {
        pub question: String,
        secret: String,
    }
}

fn main() {
    let _ = ticket::Ticket::update().question("why?").secret("no");
    let _ = (ticket::Ticket::QUESTION, ticket::Ticket::SECRET);
}
