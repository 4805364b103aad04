use superstep::{Context, GraphState, Result};

#[derive(GraphState, Clone)]
struct Order {
    paid: u32,
}

async fn pay(_: &Order, cx: &Context) -> Result<OrderUpdate> {
    Ok(Order::update().paid(cx.step("charge", async { 1_u32 }).await?))
}

fn main() {}
