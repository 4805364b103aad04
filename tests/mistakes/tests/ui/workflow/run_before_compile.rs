use superstep::workflow::Workflow;
use superstep::{Context, Result};

async fn double(number: &u32, _: &Context) -> Result<u32> {
    Ok(number * 2)
}

async fn program() -> Result<()> {
    Workflow::new(double).run(4).await?;
    Ok(())
}

fn main() {
    let _ = program();
}
