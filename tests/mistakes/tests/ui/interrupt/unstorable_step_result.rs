//! A durable step returns a result that cannot be stored in a checkpoint.

use superstep::{Context, GraphState, Result};

#[derive(GraphState, Clone)]
struct Order {
    paid: u32,
}

struct Receipt(u32);

async fn charge() -> Result<Receipt> {
    Ok(Receipt(7))
}

async fn pay(_: &Order, cx: &Context) -> Result<OrderUpdate> {
    Ok(Order::update().paid(cx.step("charge", charge()).await?.0))
}

fn main() {}
