use superstep::GraphState;
use superstep::checkpoint::ChangeKind;
use superstep::state::{Input, Restore};

use super::{encoded, field};

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Part {
    #[state(input)]
    language: String,
    #[state(default = 5)]
    tries: u8,
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Whole {
    #[state(input, exclude)]
    token: u64,
    #[state(input, untracked)]
    local: u8,
    #[state(input)]
    question: String,
    #[state(flatten, input)]
    part: Part,
    #[state(reducer = append, default = vec![1])]
    notes: Vec<u8>,
}

#[test]
fn given_fields_restore_the_start_state() {
    let start = Whole::input(4711_u64, 0, "why?", Part::input("de")).into_start();
    let given = start.given.iter().filter_map(|&index| {
        let payload = encoded(&start.state, index).unwrap()?;
        Some(field(Whole::field(index)?.name, [(1, ChangeKind::Value, payload)]))
    });
    let mut restore = Restore::new(given.collect());
    assert_eq!(Whole::__restore(&mut restore).unwrap(), start.state);
    let defaulted = restore.defaulted().to_vec();
    let tracked = (0..Whole::FIELD_COUNT).filter(|&index| !Whole::field(index).unwrap().untracked);
    let given: Vec<usize> = tracked.filter(|index| !defaulted.contains(index)).collect();
    let tracked_given = start.given.iter().filter(|&&index| !Whole::field(index).unwrap().untracked);
    assert!(tracked_given.eq(&given));
}
