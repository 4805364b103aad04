use graph_agent::tool::Tools;
use graph_core::messages::MessagesState;

async fn clock() -> String {
    "noon".to_owned()
}

fn main() {
    Tools::<MessagesState>::new().with(clock);
}
