use superstep::messages::MessagesState;
use superstep_agent::agent::Agent;

fn main() {
    let _ = Agent::<MessagesState>::new("a model");
}
