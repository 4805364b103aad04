use superstep_agent::tool;

struct Weather;

impl Weather {
    /// Says how the weather is.
    #[tool]
    async fn report(&self) -> String {
        String::new()
    }
}

fn main() {}
