use superstep::{Context, Route};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Query;

async fn draft(_: &Context) {}

#[derive(Route)]
enum Verdict {
    #[to(draft)]
    Rework(Query),
}

fn main() {
    let _ = Verdict::Rework(Query);
}
