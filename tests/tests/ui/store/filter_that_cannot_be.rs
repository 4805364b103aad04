//! A filter by a value that serde cannot write.

use superstep::Cx;

struct Plan;

async fn find(cx: &Cx) -> superstep::Result<usize> {
    let found = cx.store()?.of::<String>("users").search().filter("plan", Plan).await?;
    Ok(found.items.len())
}

fn main() {}
