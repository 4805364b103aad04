use superstep::{END, GraphState, Route, START, StateGraph};

async fn draft() {}

#[derive(Route)]
#[to(draft)]
#[route(krate = ::superstep)]
enum Verdict {
    Nowhere,
    #[to]
    Bare,
    #[to()]
    Empty,
    #[to(draft)]
    #[to(END)]
    Twice,
    #[to(draft, draft)]
    Repeated,
    #[to(draft())]
    Called,
    #[to("draft")]
    Named { query: String },
    #[to("draft")]
    Pair(String, u8),
    #[to(draft)]
    #[route(lable = "again")]
    Misspelt,
    #[to(draft)]
    #[route(label = "Nowhere")]
    Ambiguous,
}

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

// The use of the broken route causes no second error.
async fn review(_: &Ticket) -> Verdict {
    Verdict::Nowhere
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, review).edge(review, END);
}
// mistakes: 12
