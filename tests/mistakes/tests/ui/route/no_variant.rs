use superstep::Route;

#[derive(Route)]
enum Verdict {}

fn main() {}
