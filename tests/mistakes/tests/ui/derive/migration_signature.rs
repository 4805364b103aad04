use superstep::GraphState;
use superstep::state::Stored;

fn without_version(_: &mut Stored) -> Result<(), String> {
    Ok(())
}

fn without_outcome(_: u32, _: &mut Stored) {}

fn by_value(_: u32, stored: Stored) -> Stored {
    stored
}

#[derive(GraphState, Clone)]
#[state(version = 1, migrate = without_version)]
struct One {}

#[derive(GraphState, Clone)]
#[state(version = 1, migrate = without_outcome)]
struct Two {}

#[derive(GraphState, Clone)]
#[state(version = 1, migrate = by_value)]
struct Three {}

fn main() {}
// mistakes: 3
