use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(validate(lenght(min = 1), length, length(), length(minimum = 2), range(mn = 2), ascii(3)))]
    text: String,
    #[state(validate(contains(5), prefix, pattern(abc), custom("check"), inner))]
    other: String,
}

fn main() {}
// mistakes: 11
