//! Shows the application context: clients, settings and pools that nodes use but that are not state.
//! Run with `cargo run -p examples --bin 07_context`.
//!
//! A node that takes `&ContextWith<Shop>` fits graphs with the context `Shop`. A node that takes `&Context` fits every graph.

use superstep::{Context, ContextWith, END, GraphState, Node, NodeError, Result, START, StateGraph, named};

/// The application context. It needs neither `Serialize` nor `Clone`.
struct Shop {
    currency: &'static str,
    price: fn(&str) -> Option<u32>,
}

#[derive(GraphState, Clone, Debug)]
struct Order {
    #[state(input)]
    item: String,
    total: u32,
    #[state(reducer = append)]
    lines: Vec<String>,
}

async fn price(order: &Order, shop: &ContextWith<Shop>) -> Result<OrderUpdate> {
    // `?` accepts any error. The error of the run names the node and keeps the cause.
    let price = (shop.context().price)(&order.item)
        .ok_or_else(|| NodeError::msg(format!("no price for {}", order.item)))?;
    Ok(Order::update().total(price))
}

/// A node with data is a struct. This one takes `Context`, so it fits graphs with any application context.
#[derive(Clone, Copy)]
struct Print {
    prefix: &'static str,
}

impl Node for Print {
    type Reads = Order;
    type Output = OrderUpdate;

    async fn run(&self, order: &Order, cx: &Context) -> OrderUpdate {
        let line = format!("{}{} {} (by {})", self.prefix, order.item, order.total, cx.node());
        Order::update().lines([line])
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // Several nodes may have the type `Print`, so this one needs a name.
    let receipt = named("receipt", Print { prefix: "sold: " });
    let graph = StateGraph::<Order>::with_context::<Shop>()
        .edge(START, price)
        .edge(price, &receipt)
        .edge(&receipt, END)
        .compile()?;

    let shop = || Shop { currency: "EUR", price: |item| (item == "tea").then_some(4) };
    // Without `.context(..)` this does not compile.
    let order = graph.run(Order::input("tea")).context(shop()).await?.into_state();
    assert_eq!(order.lines, ["sold: tea 4 (by receipt)"]);
    println!("{} {}", order.lines.join("\n"), shop().currency);

    let Err(error) = graph.run(Order::input("gold")).context(shop()).await else {
        unreachable!("gold has no price");
    };
    println!("{error:?}");
    assert!(error.to_string().contains("node `price` failed in superstep 1"));
    Ok(())
}
