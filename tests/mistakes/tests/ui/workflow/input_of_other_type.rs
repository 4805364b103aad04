use superstep::Result;
use superstep::workflow::Workflow;

async fn double(number: &u32) -> Result<u32> {
    Ok(number * 2)
}

fn main() {
    let graph = Workflow::new(double).compile().unwrap();
    let _ = graph.run("two");
}
