//! A value that is not of the type that the items are said to have.

use superstep::Context;

async fn count(cx: &Context) -> superstep::Result<()> {
    let visits = cx.store()?.of::<u32>("visits");
    visits.put("ann", &"one").await?;
    Ok(())
}

fn main() {}
