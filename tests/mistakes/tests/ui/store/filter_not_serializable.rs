//! A filter by a value that serde cannot serialize.

use superstep::Context;

struct Plan;

async fn find(cx: &Context) -> superstep::Result<usize> {
    let found = cx.store()?.of::<String>("users").search().filter("plan", Plan).await?;
    Ok(found.items.len())
}

fn main() {}
