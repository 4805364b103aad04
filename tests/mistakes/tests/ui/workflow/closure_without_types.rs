use superstep::workflow::Workflow;

fn main() {
    let _ = Workflow::new(async |topic| Ok(topic));
}
