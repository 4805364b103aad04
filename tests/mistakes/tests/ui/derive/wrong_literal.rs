use superstep::GraphState;

#[derive(GraphState, Clone)]
#[state(rename_all = camelCase, crate = "superstep")]
struct Ticket {
    #[state(reducer = "append")]
    notes: Vec<String>,
    #[state(rename = question)]
    question: String,
    #[state(input = true)]
    count: u8,
    #[state(untracked(yes))]
    client: u8,
    #[state(alias)]
    name: u8,
    #[state(default =)]
    start: u8,
    #[state(validate = "email")]
    mail: String,
    #[serde(with = hex)]
    color: u32,
    #[state(input output)]
    answer: String,
}

#[derive(GraphState, Clone)]
#[state(rename_all = "camelcase")]
struct Renamed {}

fn main() {}
// mistakes: 12
