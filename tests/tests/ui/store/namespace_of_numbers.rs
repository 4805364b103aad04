//! A namespace of something else than texts.

use superstep::Cx;

async fn find(cx: &Cx) -> superstep::Result<Option<String>> {
    Ok(cx.store()?.of::<String>([17]).get("name").await?)
}

fn main() {}
