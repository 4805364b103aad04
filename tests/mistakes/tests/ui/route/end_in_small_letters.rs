use superstep::Route;

#[derive(Route)]
enum Verdict {
    #[to(end)]
    Accept,
}

fn main() {}
