use superstep::{GraphState, StateUpdate, graph};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
    #[state(reducer = append)]
    notes: Vec<String>,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Answered {
    answer: String,
}

async fn search(_: &Ticket) -> Answered {
    Answered { answer: "found".to_owned() }
}

async fn lost(_: &Ticket) {}

fn main() {
    let _graph = graph! {
        state Ticket;
        START -> search -> END;
        defer START;
        defer search -> END;
        defer "search";
    };
    let _graph = graph! {
        state Ticket;
        START -> search -> END;
        defer END;
        defer lost;
    };
}
// mistakes: 5
