use superstep::workflow::Workflow;

async fn double(number: &u32) -> u32 {
    number * 2
}

fn main() {
    let _ = Workflow::new(double);
}
