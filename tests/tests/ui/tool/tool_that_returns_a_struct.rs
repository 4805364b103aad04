use graph_agent::tool;
use graph_agent::tool::Tools;
use graph_core::messages::MessagesState;

struct Weather;

/// Says how the weather is.
#[tool]
async fn weather() -> Weather {
    Weather
}

fn main() {
    Tools::<MessagesState>::new().with(weather);
}
