//! A resumption adds a node as the function itself, and another one as its name.

use superstep::GraphState;
use superstep::thread::Thread;

#[derive(GraphState, Clone)]
struct Letter {
    text: String,
}

async fn draft(_: &Letter) {}

fn resume(thread: &Thread<Letter>) {
    let _ = thread.resume(()).goto(draft);
    let _ = thread.resume(()).goto("draft");
}

fn main() {}
// mistakes: 2
