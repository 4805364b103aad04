use superstep::GraphState;
use superstep::state::Stored;

fn migrate(_: u32, _: &mut Stored) -> Result<(), String> {
    Ok(())
}

#[derive(GraphState, Clone)]
#[state(migrate = migrate)]
struct Unversioned {}

#[derive(GraphState, Clone)]
#[state(version = 0, migrate = migrate)]
struct First {}

#[derive(GraphState, Clone)]
#[state(version = "2")]
struct Quoted {}

#[derive(GraphState, Clone)]
#[state(version = 5_000_000_000)]
struct Large {}

#[derive(GraphState, Clone)]
#[state(version)]
struct Silent {}

#[derive(GraphState, Clone)]
struct Misplaced {
    #[state(version = 1)]
    field: u8,
}

#[derive(GraphState, Clone)]
#[state(alias = "Before")]
struct Renamed {}

fn main() {}
// mistakes: 7
