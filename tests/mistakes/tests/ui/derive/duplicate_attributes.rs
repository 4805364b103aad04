use superstep::GraphState;

#[derive(GraphState, Clone)]
#[state(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
struct Ticket {
    #[state(input, input)]
    question: String,
    #[state(reducer = append, reducer = union)]
    notes: Vec<String>,
    #[state(rename = "a")]
    #[serde(rename = "b")]
    name: String,
    #[state(validate(length(min = 1, min = 2), length(max = 3)))]
    text: String,
    #[state(ephemeral, reducer = ephemeral)]
    flash: Option<u8>,
}

fn main() {}
// mistakes: 7
