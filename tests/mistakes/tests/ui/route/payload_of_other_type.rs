use superstep::Route;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Query;

#[derive(Serialize, Deserialize)]
struct Page;

async fn search(_: &Query) {}

#[derive(Route)]
enum Verdict {
    #[to(search)]
    Search(Page),
}

fn main() {
    let _ = Verdict::Search(Page);
}
