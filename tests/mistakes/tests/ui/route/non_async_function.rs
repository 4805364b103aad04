use superstep::Route;

mod nodes {
    pub fn draft(_: &u32) {}
}

#[derive(Route)]
enum Verdict {
    #[to(nodes::draft)]
    Rework,
}

fn main() {
    let _ = Verdict::Rework;
}
