use superstep::{Context, Route};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Query;

mod nodes {
    pub async fn search(_: &super::Query, _: &super::Context) {}
}

#[derive(Route)]
enum Verdict {
    #[to(nodes::search)]
    Search,
}

fn main() {
    let _ = Verdict::Search;
}
