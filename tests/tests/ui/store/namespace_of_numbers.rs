//! A namespace of something else than texts.

use graph_core::Cx;

async fn find(cx: &Cx) -> graph_core::Result<Option<String>> {
    Ok(cx.store()?.of::<String>([17]).get("name").await?)
}

fn main() {}
