use superstep::{END, Route};

async fn draft() {}

#[derive(Route)]
enum Verdict {
    #[to(drat)]
    Rework,
    #[to(END)]
    Accept,
}

fn main() {
    let _ = (draft, Verdict::Rework, Verdict::Accept);
}
