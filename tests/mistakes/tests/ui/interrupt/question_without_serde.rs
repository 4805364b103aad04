use superstep::interrupt::Question;

struct Approve {
    answer: String,
}

impl Question for Approve {
    type Answer = bool;
}

fn main() {}
