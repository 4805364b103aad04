use graph_agent::tool;
use graph_agent::tool::Tools;
use graph_core::Ctx;
use graph_core::messages::MessagesState;

struct Shop;

/// Buys something.
#[tool]
async fn buy(shop: &Ctx<Shop>) {
    let _ = shop.context();
}

fn main() {
    Tools::<MessagesState>::new().with(buy);
}
