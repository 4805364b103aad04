use superstep::GraphState;

use superstep::Field;

#[derive(GraphState, Clone)]
struct Ticket {
    answer: String,
}

#[derive(GraphState, Clone)]
struct Order {
    answer: String,
}

fn show(_: Field<Ticket, String>) {}

fn main() {
    show(Order::ANSWER);
}
