use superstep::Context;

async fn remember(cx: &Context) -> superstep::Result<()> {
    let store = cx.store()?;
    store.of::<String>(["facts"]).put("name", &"Ann".to_owned())?;
    Ok(())
}

fn main() {}
