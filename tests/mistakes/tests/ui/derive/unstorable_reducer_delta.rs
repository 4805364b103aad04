use superstep::GraphState;
use superstep::reducers::{ReduceError, Reducer, Stamp};

#[derive(Clone)]
struct Prepared(String);

enum Log {}

impl Reducer<String> for Log {
    type Update = String;
    type Delta = Prepared;

    fn prepare(update: String, _: &Stamp<'_>) -> Result<Prepared, ReduceError> {
        Ok(Prepared(update))
    }

    fn fold(value: &mut String, delta: Prepared) -> Result<(), ReduceError> {
        value.push_str(&delta.0);
        Ok(())
    }
}

enum Raw {}

impl Reducer<String> for Raw {
    type Update = Prepared;
    type Delta = Prepared;

    fn prepare(update: Prepared, _: &Stamp<'_>) -> Result<Prepared, ReduceError> {
        Ok(update)
    }

    fn fold(value: &mut String, delta: Prepared) -> Result<(), ReduceError> {
        value.push_str(&delta.0);
        Ok(())
    }
}

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(reducer = Log)]
    log: String,
    #[state(reducer = Raw)]
    raw: String,
    #[state(reducer = Log, untracked)]
    local: String,
}

fn main() {}
// mistakes: 2
