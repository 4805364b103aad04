use graph_core::{Route, START};

#[derive(Route)]
enum Verdict {
    #[to(START)]
    Rework,
}

fn main() {
    let _ = Verdict::Rework;
}
