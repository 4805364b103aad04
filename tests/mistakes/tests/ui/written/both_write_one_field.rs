use superstep::{GraphState, Overwrite, StateUpdate, graph};

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

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Cleared {
    notes: Overwrite<Vec<String>>,
}

async fn ask(_: &Ticket) {}

async fn search(_: &Ticket) -> Answered {
    Answered { answer: "found".to_owned() }
}

async fn guess(_: &Ticket) -> superstep::Result<Answered> {
    Ok(Answered { answer: "guessed".to_owned() })
}

async fn clear(_: &Ticket) -> Cleared {
    Cleared { notes: Overwrite(Vec::new()) }
}

async fn clear_too(_: &Ticket) -> Cleared {
    Cleared { notes: Overwrite(Vec::new()) }
}

fn main() {
    let _edges = graph! {
        state Ticket;
        START -> ask -> (search, guess);
        search -> END;
        guess -> END;
    };
    let _statements = graph! {
        state Ticket;
        START -> search -> END;
        START -> guess -> END;
    };
    let _join = graph! {
        state Ticket;
        START -> (ask, clear);
        (ask, clear) => (search, guess);
        search -> END;
        guess -> END;
    };
    let _overwrites = graph! {
        state Ticket;
        START -> (clear, clear_too);
        clear -> END;
        clear_too -> END;
    };
}
// mistakes: 4
