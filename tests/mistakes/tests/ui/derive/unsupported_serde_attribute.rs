use superstep::GraphState;

#[derive(GraphState, Clone)]
#[serde(deny_unknown_fields)]
#[serde(tag = "type")]
struct Ticket {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    a: Option<u8>,
    #[serde(flatten)]
    b: u8,
    #[serde(rename(serialize = "x", deserialize = "y"))]
    c: u8,
    #[serde(skip_deserializing)]
    d: u8,
    #[serde(borrow)]
    e: u8,
}

fn main() {}
// mistakes: 7
