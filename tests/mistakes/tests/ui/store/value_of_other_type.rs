//! A value that does not have the item type.

use superstep::Context;

async fn count(cx: &Context) -> superstep::Result<()> {
    let visits = cx.store()?.of::<u32>("visits");
    visits.put("ann", &"one").await?;
    Ok(())
}

fn main() {}
