use superstep_agent::tool;

struct Weather;

impl Weather {
    /// Says how the weather is.
    #[tool]
    async fn report(city: String) -> String {
        city
    }

    /// Creates a report.
    #[tool]
    async fn create(city: String) -> Self {
        drop(city);
        Self
    }
}

fn main() {}
// mistakes: 2
