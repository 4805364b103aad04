//! A type without `Question` is passed to `interrupt`.

use superstep::{Context, GraphState};
use serde::{Deserialize, Serialize};

#[derive(GraphState, Clone)]
struct Order {
    bought: bool,
}

#[derive(Serialize, Deserialize)]
struct Approve;

async fn buy(_: &Order, cx: &Context) -> OrderUpdate {
    Order::update().bought(cx.interrupt(Approve).await)
}

fn main() {}
