use superstep_agent::tool;

struct Place;

/// Says how the weather is.
#[tool]
async fn weather(place: Place) -> String {
    let _ = place;
    "fine".to_owned()
}

fn main() {}
