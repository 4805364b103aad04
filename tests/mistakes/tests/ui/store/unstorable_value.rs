//! A value of a type without `Serialize` and `Deserialize`.

use superstep::Context;

struct Profile {
    name: String,
}

async fn greet(cx: &Context) -> superstep::Result<Option<String>> {
    let profile = cx.store()?.of::<Profile>("users").get("ann").await?;
    Ok(profile.map(|profile| profile.name))
}

fn main() {}
