use superstep::Route;

struct Draft;

#[derive(Route)]
enum Verdict {
    #[to(Draft)]
    Rework,
}

fn main() {
    let _ = Verdict::Rework;
}
