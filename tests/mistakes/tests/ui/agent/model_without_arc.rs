use superstep::messages::MessagesState;
use superstep_agent::ScriptedModel;
use superstep_agent::agent::Agent;

fn build(model: ScriptedModel) {
    let _ = Agent::<MessagesState>::new(model);
}

fn main() {}
