use superstep::messages::MessagesState;
use superstep_agent::tool::Tools;

fn main() {
    Tools::<MessagesState>::new().with("weather");
}
