use superstep_agent::tool;

/// Says how the weather is.
#[tool]
async fn weather((north, east): (f64, f64)) -> String {
    format!("{north} {east}")
}

fn main() {}
