//! Properties of `add_messages`, checked against a simple reference implementation.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use superstep::messages::{AddMessages, Message, MessageUpdate, MessagesDelta, MessagesUpdate, Remove};
use superstep::reducers::{Reducer, Stamp};

/// One operation of an update. Ids are single letters, so that they often collide.
#[derive(Clone, Debug)]
enum Operation {
    Put(char, u8),
    /// A message of a client.
    Add(char, u8),
    Remove(char),
    All,
}

impl Operation {
    fn update(&self) -> MessageUpdate {
        match self {
            Self::Put(id, text) => Message::human(format!("{id}{text}")).with_id(*id).into(),
            Self::Add(id, text) => {
                MessageUpdate::Add(Message::human(format!("{id}{text}")).with_id(*id).into())
            }
            Self::Remove(id) => Remove::id(*id).into(),
            Self::All => Remove::all().into(),
        }
    }
}

fn operation() -> impl Strategy<Value = Operation> {
    let id = || proptest::char::range('a', 'e');
    prop_oneof![
        6 => (id(), 0..3_u8).prop_map(|(id, text)| Operation::Put(id, text)),
        2 => (id(), 0..3_u8).prop_map(|(id, text)| Operation::Add(id, text)),
        3 => id().prop_map(Operation::Remove),
        1 => Just(Operation::All),
    ]
}

/// The reference implementation: an id keeps its position during the whole update, even if it is removed.
fn reference(before: &[String], update: &[Operation]) -> Option<Vec<String>> {
    let mut positions: Vec<char> = before.iter().map(|text| text.chars().next().unwrap()).collect();
    let mut texts: BTreeMap<char, String> = positions.iter().copied().zip(before.iter().cloned()).collect();
    let last_all = update.iter().rposition(|operation| matches!(operation, Operation::All));
    if last_all.is_some() {
        (positions, texts) = (Vec::new(), BTreeMap::new());
    }
    let present = texts.clone();
    for operation in update.iter().skip(last_all.map_or(0, |at| at + 1)) {
        match operation {
            // A client can repeat a message of the list, and change none.
            Operation::Add(id, text) if present.get(id).is_some_and(|now| *now != format!("{id}{text}")) => {
                return None;
            }
            Operation::Put(id, text) | Operation::Add(id, text) => {
                if !positions.contains(id) {
                    positions.push(*id);
                }
                texts.insert(*id, format!("{id}{text}"));
            }
            // Removing an id is valid if it was present or added before, even if it has been removed already.
            Operation::Remove(id) if !positions.contains(id) => return None,
            Operation::Remove(id) => drop(texts.remove(id)),
            Operation::All => unreachable!("the last one is skipped"),
        }
    }
    Some(positions.iter().filter_map(|id| texts.get(id).cloned()).collect())
}

fn delta(update: &[Operation]) -> MessagesDelta {
    let update: MessagesUpdate = update.iter().map(Operation::update).collect();
    AddMessages::prepare(update, &Stamp::new("n", 1, 0)).unwrap()
}

fn texts(value: &[Message]) -> Vec<String> {
    value.iter().map(|message| message.text().into_owned()).collect()
}

proptest! {
    #[test]
    fn updates_match_the_reference_implementation(updates in vec(vec(operation(), 0..9), 0..6)) {
        let (mut value, mut steps) = (Vec::new(), Vec::new());
        for update in &updates {
            let before = value.clone();
            let expected = reference(&texts(&value), update);
            let mut folded = value.clone();
            let fold = AddMessages::fold(&mut folded, delta(update));
            match AddMessages::apply(&mut value, delta(update)) {
                Ok(undo) => {
                    prop_assert_eq!(Some(texts(&value)), expected);
                    prop_assert_eq!(&folded, &value);
                    steps.push((undo, before));
                }
                Err(error) => {
                    prop_assert_eq!(expected, None);
                    prop_assert_eq!(&value, &before, "after an error");
                    prop_assert_eq!(fold.unwrap_err().to_string(), error.to_string());
                }
            }
        }
        for (undo, before) in steps.into_iter().rev() {
            undo.undo(&mut value);
            prop_assert_eq!(&value, &before);
        }
    }

    #[test]
    fn stored_delta_folds_like_the_original(start in vec(operation(), 0..6), update in vec(operation(), 0..9)) {
        let mut value = Vec::new();
        let _ = AddMessages::fold(&mut value, delta(&start));
        let mut replayed = value.clone();
        let live = AddMessages::fold(&mut value, delta(&update)).map_err(|error| error.to_string());
        let stored = serde_json::to_string(&delta(&update)).unwrap();
        let again = AddMessages::fold(&mut replayed, serde_json::from_str(&stored).unwrap());
        prop_assert_eq!(live, again.map_err(|error| error.to_string()));
        prop_assert_eq!(value, replayed);
    }

    #[test]
    fn adding_the_same_messages_twice_changes_nothing(update in vec((proptest::char::range('a', 'e'), any::<u8>()), 0..9)) {
        let update: Vec<_> = update.into_iter().map(|(id, text)| Operation::Put(id, text)).collect();
        let mut value = Vec::new();
        AddMessages::fold(&mut value, delta(&update)).unwrap();
        let once = value.clone();
        AddMessages::fold(&mut value, delta(&update)).unwrap();
        prop_assert_eq!(value, once);
    }
}
