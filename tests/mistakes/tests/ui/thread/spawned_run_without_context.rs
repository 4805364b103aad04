use superstep::GraphState;
use superstep::thread::Thread;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

struct Office;

/// As a runtime's.
fn spawn(_: impl Future + Send + 'static) {}

fn program(thread: Thread<Ticket, Office>) {
    spawn(thread.run(Ticket::input("why?")));
}

fn main() {
    let _ = (program, Office);
}
