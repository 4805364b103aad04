use superstep_agent::tool;

/// Says how the weather is.
#[tool]
async fn weather<T: ToString>(place: T) -> String {
    place.to_string()
}

fn main() {}
