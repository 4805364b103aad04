//! A namespace with a number as a segment.

use superstep::Context;

async fn find(cx: &Context) -> superstep::Result<Option<String>> {
    Ok(cx.store()?.of::<String>([17]).get("name").await?)
}

fn main() {}
