use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Part {}

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(untracked, exclude)]
    a: u8,
    #[state(untracked, output)]
    b: u8,
    #[state(exclude, output)]
    c: u8,
    #[state(untracked, serialize_with = display)]
    d: u8,
    #[state(with = hex, serialize_with = display)]
    e: u8,
    #[state(exclude, serialize_with = display)]
    f: u8,
    #[state(untracked, alias = "other")]
    g: u8,
    #[state(flatten, reducer = append, rename = "x", validate(length(min = 1)))]
    h: Part,
    #[state(validate(length(equal = 1, min = 2)))]
    i: String,
}

fn main() {}
// mistakes: 11
