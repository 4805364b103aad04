use superstep_agent::tool;
use superstep_agent::tool::Tools;
use superstep::messages::MessagesState;

struct Weather;

/// Says how the weather is.
#[tool]
async fn weather() -> Weather {
    Weather
}

fn main() {
    Tools::<MessagesState>::new().with(weather);
}
