use superstep::{END, Route};

#[derive(Route)]
enum Verdict<'a> {
    #[to("search")]
    Search(&'a str),
    #[to(END)]
    Accept,
}

fn main() {
    let _ = (Verdict::Search("why"), Verdict::Accept, END);
}
