use superstep::Result;
use superstep::workflow::Workflow;

async fn sum(number: &u32, previous: Option<&str>) -> Result<u32> {
    Ok(number + previous.map_or(0, |text| text.len() as u32))
}

fn main() {
    let _ = Workflow::new(sum);
}
