use superstep_agent::tool;

/// Says how the weather is.
#[tool]
fn weather() -> String {
    String::new()
}

fn main() {}
