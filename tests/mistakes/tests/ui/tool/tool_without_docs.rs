use superstep_agent::tool;

#[tool]
async fn weather() -> String {
    String::new()
}

fn main() {}
