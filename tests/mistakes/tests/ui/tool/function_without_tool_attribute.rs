use superstep_agent::tool::Tools;
use superstep::messages::MessagesState;

async fn clock() -> String {
    "noon".to_owned()
}

fn main() {
    Tools::<MessagesState>::new().with(clock);
}
