//! An order and one async function, without a graph.

#[derive(Clone, Debug)]
struct Order {
    item: String,
    total: u32,
    log: Vec<String>,
}

async fn price(order: &Order) -> (u32, String) {
    let total = 40;
    (total, format!("{} costs {total}", order.item))
}

pub async fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut order = Order { item: "tea".to_owned(), total: 0, log: Vec::new() };
    let (total, line) = price(&order).await;
    order.total = total;
    order.log.push(line);
    println!("{} for {:?}", order.total, order.log);
    Ok(())
}
