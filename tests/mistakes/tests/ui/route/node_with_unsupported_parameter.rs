use superstep::Route;

struct Client;

async fn by_reference(_: &Client) {}

async fn by_value(_: String) {}

#[derive(Route)]
enum Verdict {
    #[to(by_reference)]
    First,
    #[to(by_value)]
    Second,
}

fn main() {
    let _ = (Verdict::First, Verdict::Second);
}
// mistakes: 2
