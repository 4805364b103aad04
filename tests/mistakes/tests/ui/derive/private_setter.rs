mod ticket {
    use superstep::GraphState;

    #[derive(GraphState, Clone)]
    pub struct Ticket {
        pub question: String,
        secret: String,
    }
}

use ticket::Ticket;

fn main() {
    Ticket::update().question("fine").secret("not to be written from here");
    let _ = Ticket::SECRET;
}
// mistakes: 2
