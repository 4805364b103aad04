use superstep::GraphState;

#[derive(GraphState, Clone)]
#[state(crat = ::superstep, reducer = append)]
struct Ticket {
    #[state(reducr = append)]
    notes: Vec<String>,
    #[state(secret)]
    token: String,
    #[state(invariant = check)]
    count: u8,
    #[state]
    empty: u8,
    #[state = "input"]
    valued: u8,
}

fn main() {}
// mistakes: 7
