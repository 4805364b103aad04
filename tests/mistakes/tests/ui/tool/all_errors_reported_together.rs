use superstep_agent::tool;

#[tool(nam = "x")]
fn search<T>(words: &[String], #[tool(al)] limit: &str) -> impl Sized {}

#[tool]
struct Search;

fn main() {}
// mistakes: 9
