use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(default = 2.0, validate(range(max = 1.0)))]
    confidence: f64,
    #[state(default = -1, validate(range(min = 0, max = 9)))]
    priority: i32,
    #[state(default = "".into(), validate(length(min = 1)))]
    owner: String,
    #[state(default = 0.5, validate(range(max = 1.0)))]
    share: f64,
}

fn main() {
    let _ = Ticket::update().confidence(0.5);
}
// mistakes: 3
