use std::collections::{BTreeMap, HashMap};

use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Board {
    pieces: HashMap<(u32, u32), String>,
    #[state(reducer = merge)]
    moves: BTreeMap<Vec<u8>, u32>,
    scores: Option<HashMap<Option<String>, u32>>,
    #[state(untracked)]
    cache: HashMap<(u32, u32), String>,
    names: HashMap<u32, (u32, u32)>,
}

fn main() {
    let _ = Board::update().names(HashMap::from([(1, (2, 3))]));
}
// mistakes: 3
