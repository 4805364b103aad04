use superstep::{END, Route};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Query;

#[derive(Route)]
enum Verdict {
    #[to(END)]
    Accept(Query),
}

fn main() {
    let _ = Verdict::Accept(Query);
}
