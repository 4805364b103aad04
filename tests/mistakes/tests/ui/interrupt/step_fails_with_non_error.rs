//! A durable step fails with a type that is not an error.

use superstep::{Context, GraphState, Result};

#[derive(GraphState, Clone)]
struct Order {
    paid: u32,
}

async fn charge() -> std::result::Result<u32, String> {
    Err("declined".to_owned())
}

async fn pay(_: &Order, cx: &Context) -> Result<OrderUpdate> {
    Ok(Order::update().paid(cx.step("charge", charge()).await?))
}

fn main() {}
