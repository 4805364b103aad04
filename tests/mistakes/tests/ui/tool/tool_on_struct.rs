use superstep_agent::tool;

#[tool]
struct Weather;

fn main() {}
