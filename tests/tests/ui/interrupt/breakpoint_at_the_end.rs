//! A breakpoint is put where no node is.

use graph_core::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Order {
    paid: u32,
}

async fn pay(_: &Order) -> OrderUpdate {
    Order::update().paid(7)
}

fn main() {
    let _ = StateGraph::<Order>::new().edge(START, pay).edge(pay, END).interrupt_before(END).compile();
}
