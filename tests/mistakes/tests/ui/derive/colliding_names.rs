use superstep::GraphState;

#[derive(GraphState, Clone)]
#[state(rename_all = "lowercase")]
struct Ticket {
    kind: u8,
    #[state(rename = "kind")]
    sort: u8,
    #[state(alias = "kind")]
    class: u8,
    #[state(alias = "own")]
    own: u8,
    #[state(rename = "$overwrite")]
    dollar: u8,
}

#[derive(GraphState, Clone)]
#[allow(non_snake_case)]
struct Constants {
    answer: u8,
    Answer: u8,
}

fn main() {}
// mistakes: 5
