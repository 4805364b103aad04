use superstep_agent::tool;
use superstep_agent::tool::Tools;
use superstep::ContextWith;
use superstep::messages::MessagesState;

struct Shop;

/// Buys something.
#[tool]
async fn buy(shop: &ContextWith<Shop>) {
    let _ = shop.context();
}

fn main() {
    Tools::<MessagesState>::new().with(buy);
}
