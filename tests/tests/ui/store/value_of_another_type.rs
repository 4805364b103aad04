//! A value that is not of the type that the items are said to have.

use graph_core::Cx;

async fn count(cx: &Cx) -> graph_core::Result<()> {
    let visits = cx.store()?.of::<u32>("visits");
    visits.put("ann", &"one").await?;
    Ok(())
}

fn main() {}
