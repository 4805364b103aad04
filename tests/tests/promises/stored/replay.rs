//! Random writes, stored and restored at every checkpoint.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use superstep::checkpoint::{ChangeKind, StoredChange, StoredField};
use superstep::reducers::StoredAs;
use superstep::state::{FieldWrite, Form, Update};
use superstep::{GraphState, Overwrite};

use super::{checkpoint, encoded, prepared, restored, stored};

fn keep_three(list: &mut Vec<u8>, item: u8) {
    list.insert(0, item);
    list.truncate(3);
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Part {
    #[state(reducer = append)]
    text: String,
    #[state(reducer = union)]
    set: BTreeSet<char>,
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Whole {
    plain: u8,
    #[state(reducer = append, default = vec![7])]
    list: Vec<u8>,
    #[state(reducer = append)]
    maybe: Option<Vec<u8>>,
    #[state(reducer = merge)]
    map: BTreeMap<u8, u8>,
    #[state(reducer = union)]
    distinct: Vec<u8>,
    #[state(reducer = max)]
    most: Option<f32>,
    #[state(reducer = keep_three, takes = u8)]
    last: Vec<u8>,
    #[state(flatten)]
    part: Part,
}

fn update() -> impl Strategy<Value = WholeUpdate> {
    let start = Whole::update;
    prop_oneof![
        any::<u8>().prop_map(move |new| start().plain(new)),
        vec(any::<u8>(), 0..3).prop_map(move |new| start().list(new)),
        vec(any::<u8>(), 0..3).prop_map(move |new| start().list(Overwrite(new))),
        vec(any::<u8>(), 0..3).prop_map(move |new| start().maybe(new)),
        Just(start().maybe(Overwrite(None))),
        btree_map(0_u8..5, any::<u8>(), 0..3).prop_map(move |new| start().map(new)),
        vec(0_u8..5, 0..3).prop_map(move |new| start().distinct(new)),
        vec(0_u8..5, 0..3).prop_map(move |new| start().distinct(Overwrite(new))),
        (-1.0_f32..1.0).prop_map(move |new| start().most(new)),
        any::<u8>().prop_map(move |new| start().last(new)),
        any::<String>().prop_map(move |new| start().part(Part::update().text(new))),
        any::<String>().prop_map(move |new| start().part(Part::update().text(Overwrite(new)))),
        btree_set(any::<char>(), 0..3).prop_map(move |new| start().part(Part::update().set(new))),
    ]
}

/// Applies an update to `state` and returns the changes that checkpoint `number` stores.
fn changes(state: &mut Whole, number: u8, update: WholeUpdate) -> Vec<(String, StoredChange)> {
    let writes: Vec<_> = prepared::<Whole>(update).collect();
    let one = |write: <WholeUpdate as Update<Whole>>::Write| {
        let (form, prepared) = stored::<Whole>(&write).unwrap().unwrap();
        let (index, spec) = (write.field(), Whole::field(write.field()).unwrap());
        assert!(write.apply(state).is_ok());
        let (kind, payload) = match (form, spec.stored.unwrap()) {
            (Form::Delta, StoredAs::Delta | StoredAs::Appended) => (ChangeKind::Delta, prepared),
            (Form::Overwrite, _) => (ChangeKind::Value, prepared),
            (Form::Update, _) => panic!("it is prepared"),
            (Form::Delta, StoredAs::Value) => (ChangeKind::Value, encoded(state, index).unwrap().unwrap()),
        };
        (spec.name.to_owned(), StoredChange::new(checkpoint(number), kind, payload))
    };
    writes.into_iter().map(one).collect()
}

proptest! {
    #[test]
    fn state_is_restored_exactly_at_every_checkpoint(
        updates in vec(update(), 0..12), whole_at in any::<prop::sample::Index>(),
    ) {
        let mut live = Whole::started(Whole::input()).unwrap();
        let mut fields: BTreeMap<String, Vec<StoredChange>> = BTreeMap::new();
        let whole_at = whole_at.index(updates.len() + 1);
        for (number, update) in (1..).zip(updates) {
            for (field, change) in changes(&mut live, number, update) {
                fields.entry(field).or_default().push(change);
            }
            // Storing a full value in between changes nothing.
            if usize::from(number) == whole_at {
                for field in super::all_fields(&live) {
                    let mut change = field.changes[0].clone();
                    change.checkpoint = checkpoint(number);
                    fields.entry(field.field).or_default().push(change);
                }
            }
            let stored = fields.iter().map(|(field, changes)| {
                let last = changes.iter().rposition(|change| change.kind == ChangeKind::Value);
                StoredField::new(field.clone(), changes[last.unwrap_or(0)..].to_vec())
            });
            prop_assert_eq!(&restored::<Whole>(stored.collect()).unwrap(), &live);
        }
    }
}
