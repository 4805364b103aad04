use superstep::{Context, GraphState, Result};

#[derive(GraphState, Clone)]
struct Order {
    paid: u32,
}

async fn charge() -> Result<u32> {
    Ok(1)
}

async fn pay(_: &Order, cx: &Context) -> Result<OrderUpdate> {
    Ok(Order::update().paid(cx.step(charge()).await?))
}

fn main() {}
