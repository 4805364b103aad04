use graph_core::GraphState;

#[derive(Clone, serde::Serialize, serde::Deserialize)]
enum Kind {
    Invoice,
}

#[derive(GraphState, Clone)]
struct Ticket {
    kind: Kind,
}

fn main() {
    let _ = Kind::Invoice;
}
