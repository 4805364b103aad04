//! Subgraphs as error handlers of subgraphs. Nothing is stored.

use superstep::{END, GraphState, NodeError, Result, START, StateGraph};

#[derive(GraphState, Clone, Debug)]
struct Order {
    #[state(reducer = append)]
    notes: Vec<String>,
}

#[derive(GraphState, Clone, Debug)]
struct Payment {
    tries: u32,
}

#[derive(GraphState, Clone, Debug)]
struct Refund {
    reason: Option<String>,
}

fn note(text: &str) -> OrderUpdate {
    Order::update().notes([text.to_owned()])
}

async fn pays(_: &Payment) -> Result<PaymentUpdate, NodeError> {
    Err(NodeError::msg("no money"))
}

async fn refunds(_: &Refund) -> RefundUpdate {
    Refund::update().reason("it failed".to_owned())
}

async fn ships(_: &Order) -> Result<OrderUpdate, NodeError> {
    Err(NodeError::msg("no parcel"))
}

async fn collects(_: &Order) -> OrderUpdate {
    note("collected")
}

#[tokio::test]
async fn handler_with_another_state_runs_its_own_graph() {
    let payment = StateGraph::<Payment>::new().edge(START, pays).edge(pays, END).compile().unwrap();
    let payment = payment.as_node("payment").mapped(|_: &Order| Payment::input(), |_| note("paid"));
    let refund = StateGraph::<Refund>::new().edge(START, refunds).edge(refunds, END).compile().unwrap();
    let refund = refund
        .as_node("refund")
        .mapped(|_: &Order| Refund::input(), |call| note(&call.state.reason.unwrap_or_default()));
    let graph = StateGraph::<Order>::new()
        .edge(START, &payment)
        .edge(&payment, END)
        .on_error(&payment, &refund)
        .compile()
        .unwrap();
    let order = graph.run(Order::input()).await.unwrap().into_state();
    assert_eq!(order.notes, ["it failed"]);
}

#[tokio::test]
async fn handler_on_the_same_state_runs_its_own_graph() {
    let ship = StateGraph::<Order>::new().edge(START, ships).edge(ships, END).compile().unwrap();
    let ship = ship.as_node("ship");
    let collect = StateGraph::<Order>::new().edge(START, collects).edge(collects, END).compile().unwrap();
    let collect = collect.as_node("collect");
    let graph = StateGraph::<Order>::new()
        .edge(START, &ship)
        .edge(&ship, END)
        .on_error(&ship, &collect)
        .compile()
        .unwrap();
    let order = graph.run(Order::input()).await.unwrap().into_state();
    assert_eq!(order.notes, ["collected"]);
}
