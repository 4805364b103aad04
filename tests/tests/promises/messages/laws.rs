//! `add_messages` does what a slow and obvious reading of its rules does, whatever comes.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use superstep::messages::{AddMessages, Message, MessageUpdate, MessagesDelta, MessagesUpdate, Remove};
use superstep::reducers::{Reducer, Stamp};

/// One thing that an update does, with ids of one letter: few, so that they meet.
#[derive(Clone, Debug)]
enum Word {
    Put(char, u8),
    Remove(char),
    All,
}

impl Word {
    fn update(&self) -> MessageUpdate {
        match self {
            Self::Put(id, text) => Message::human(format!("{id}{text}")).with_id(*id).into(),
            Self::Remove(id) => Remove::id(*id).into(),
            Self::All => Remove::all().into(),
        }
    }
}

fn word() -> impl Strategy<Value = Word> {
    let id = || proptest::char::range('a', 'e');
    prop_oneof![
        6 => (id(), any::<u8>()).prop_map(|(id, text)| Word::Put(id, text)),
        3 => id().prop_map(Word::Remove),
        1 => Just(Word::All),
    ]
}

/// The rules one after the other: each id has a place, which it keeps while the update goes on, and what is said there.
fn reference(before: &[String], update: &[Word]) -> Option<Vec<String>> {
    let mut places: Vec<char> = before.iter().map(|text| text.chars().next().unwrap()).collect();
    let mut said: BTreeMap<char, String> = places.iter().copied().zip(before.iter().cloned()).collect();
    let last_all = update.iter().rposition(|word| matches!(word, Word::All));
    if last_all.is_some() {
        (places, said) = (Vec::new(), BTreeMap::new());
    }
    for word in update.iter().skip(last_all.map_or(0, |at| at + 1)) {
        match word {
            Word::Put(id, text) => {
                if !places.contains(id) {
                    places.push(*id);
                }
                said.insert(*id, format!("{id}{text}"));
            }
            // What was there or came before it is known, also if it is gone again.
            Word::Remove(id) if !places.contains(id) => return None,
            Word::Remove(id) => drop(said.remove(id)),
            Word::All => unreachable!("the last one is skipped"),
        }
    }
    Some(places.iter().filter_map(|id| said.get(id).cloned()).collect())
}

fn delta(update: &[Word]) -> MessagesDelta {
    let update: MessagesUpdate = update.iter().map(Word::update).collect();
    AddMessages::prepare(update, &Stamp::new("n", 1, 0)).unwrap()
}

fn said(value: &[Message]) -> Vec<String> {
    value.iter().map(|message| message.text().into_owned()).collect()
}

proptest! {
    #[test]
    fn every_update_does_what_the_rules_say(updates in vec(vec(word(), 0..9), 0..6)) {
        let (mut value, mut steps) = (Vec::new(), Vec::new());
        for update in &updates {
            let before = value.clone();
            let expected = reference(&said(&value), update);
            let mut folded = value.clone();
            let fold = AddMessages::fold(&mut folded, delta(update));
            match AddMessages::apply(&mut value, delta(update)) {
                Ok(undo) => {
                    prop_assert_eq!(Some(said(&value)), expected);
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
    fn a_stored_delta_folds_as_the_one_that_was_written(start in vec(word(), 0..6), update in vec(word(), 0..9)) {
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
    fn the_same_messages_again_change_nothing(update in vec((proptest::char::range('a', 'e'), any::<u8>()), 0..9)) {
        let update: Vec<_> = update.into_iter().map(|(id, text)| Word::Put(id, text)).collect();
        let mut value = Vec::new();
        AddMessages::fold(&mut value, delta(&update)).unwrap();
        let once = value.clone();
        AddMessages::fold(&mut value, delta(&update)).unwrap();
        prop_assert_eq!(value, once);
    }
}
