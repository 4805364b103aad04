use superstep::Route;

async fn draft() {}

#[derive(Route)]
enum Verdict {
    #[to = draft]
    Rework,
}

fn main() {}
