use superstep::Route;

#[derive(Route)]
struct Verdict {
    rework: bool,
}

#[derive(Route)]
enum Nowhere {}

fn main() {
    let _ = Verdict { rework: true }.rework;
}
// mistakes: 2
