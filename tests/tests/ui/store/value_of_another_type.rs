//! A value that is not of the type that the items are said to have.

use superstep::Cx;

async fn count(cx: &Cx) -> superstep::Result<()> {
    let visits = cx.store()?.of::<u32>("visits");
    visits.put("ann", &"one").await?;
    Ok(())
}

fn main() {}
