use superstep::{Route, START};

#[derive(Route)]
enum Verdict {
    #[to(START)]
    Rework,
}

fn main() {
    let _ = Verdict::Rework;
}
