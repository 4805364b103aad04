use superstep::Route;

struct Query;

async fn search(_: &Query) {}

#[derive(Route)]
enum Verdict {
    #[to(search)]
    Search(Query),
    #[to("second_search")]
    Again(Option<Query>),
}

fn main() {
    let _ = (Verdict::Search(Query), Verdict::Again(None));
}
