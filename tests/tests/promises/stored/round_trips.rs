//! Random values round-trip through storage or are refused.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::refused_values::{Blob, load, store};

/// Covers every type of serde's data model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Any {
    Plain,
    Unit(()),
    Number(i64),
    Wide(u128, i128),
    Single(f32),
    Double(f64),
    Char(char),
    Text(String),
    Blob(Blob),
    Twice(Option<Option<bool>>),
    Nothing(Option<()>),
    Wrapped(Option<Wrapped>),
    Json(Option<Value>),
    List(Vec<Any>),
    Fields { some: Option<Box<Any>>, tagged: Tagged },
    ByText(BTreeMap<String, Any>),
    ByNumber(BTreeMap<i128, Any>),
    ByLetter(BTreeMap<char, BTreeMap<bool, u8>>),
    ByVariant(BTreeMap<Tag, u8>),
    ByPair(BTreeMap<(u8, u8), u8>),
    ByOption(BTreeMap<Option<u8>, u8>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Wrapped(Option<f64>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Tag {
    One,
    Two,
}

/// Deserialized through serde's buffer, because it is internally tagged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Tagged {
    Empty,
    Full {
        single: f32,
        #[serde(flatten)]
        rest: BTreeMap<String, f64>,
    },
}

impl Any {
    /// Returns `true` if JSON can represent the value without loss.
    fn fits(&self) -> bool {
        match self {
            Self::Single(number) => number.is_finite(),
            Self::Double(number) => number.is_finite(),
            Self::Twice(twice) => *twice != Some(None),
            Self::Nothing(nothing) => nothing.is_none(),
            Self::Wrapped(Some(Wrapped(inner))) => inner.is_some(),
            Self::Json(json) => *json != Some(Value::Null),
            Self::List(items) => items.iter().all(Self::fits),
            Self::Fields { some, tagged } => some.as_ref().is_none_or(|some| some.fits()) && tagged.fits(),
            Self::ByText(map) => map.values().all(Self::fits),
            Self::ByNumber(map) => map.values().all(Self::fits),
            Self::ByPair(map) => map.is_empty(),
            Self::ByOption(map) => map.is_empty(),
            _ => true,
        }
    }
}

impl Tagged {
    fn fits(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Full { single, rest } => {
                single.is_finite() && rest.values().all(|number| number.is_finite())
            }
        }
    }
}

fn single() -> impl Strategy<Value = f32> {
    prop_oneof![9 => any::<u32>().prop_map(f32::from_bits), 1 => Just(-0.0)]
}

fn double() -> impl Strategy<Value = f64> {
    prop_oneof![9 => any::<u64>().prop_map(f64::from_bits), 1 => Just(-0.0)]
}

fn finite() -> impl Strategy<Value = f64> {
    double().prop_map(|number| if number.is_finite() { number } else { 0.5 })
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        finite().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn tagged() -> impl Strategy<Value = Tagged> {
    let rest = prop::collection::btree_map("[a-c]", finite(), 0..3);
    prop_oneof![
        Just(Tagged::Empty),
        (single(), rest).prop_map(|(single, rest)| Tagged::Full { single, rest })
    ]
}

fn anything() -> impl Strategy<Value = Any> {
    let leaf = prop_oneof![
        Just(Any::Plain),
        Just(Any::Unit(())),
        any::<i64>().prop_map(Any::Number),
        (any::<u128>(), any::<i128>()).prop_map(|(u, i)| Any::Wide(u, i)),
        single().prop_map(Any::Single),
        double().prop_map(Any::Double),
        any::<char>().prop_map(Any::Char),
        any::<String>().prop_map(Any::Text),
        any::<Vec<u8>>().prop_map(|bytes| Any::Blob(Blob(bytes))),
        any::<Option<Option<bool>>>().prop_map(Any::Twice),
        any::<Option<()>>().prop_map(Any::Nothing),
        prop::option::of(prop::option::of(finite()).prop_map(Wrapped)).prop_map(Any::Wrapped),
        prop::option::of(json()).prop_map(Any::Json),
        prop::collection::btree_map(any::<char>(), any::<BTreeMap<bool, u8>>(), 0..3).prop_map(Any::ByLetter),
        prop::collection::btree_map(prop_oneof![Just(Tag::One), Just(Tag::Two)], any::<u8>(), 0..2)
            .prop_map(Any::ByVariant),
        prop::collection::btree_map(any::<(u8, u8)>(), any::<u8>(), 0..2).prop_map(Any::ByPair),
        prop::collection::btree_map(any::<Option<u8>>(), any::<u8>(), 0..2).prop_map(Any::ByOption),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Any::List),
            (prop::option::of(inner.clone().prop_map(Box::new)), tagged())
                .prop_map(|(some, tagged)| Any::Fields { some, tagged }),
            prop::collection::btree_map(any::<String>(), inner.clone(), 0..3).prop_map(Any::ByText),
            prop::collection::btree_map(any::<i128>(), inner, 0..3).prop_map(Any::ByNumber),
        ]
    })
}

/// `Debug` distinguishes −0 from 0, which `PartialEq` does not.
fn text(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn value_round_trips_or_is_refused(value in anything()) {
        match store(&value) {
            Ok(stored) => {
                prop_assert!(value.fits(), "stored: {value:?}");
                let read = load::<Any>(stored).unwrap();
                prop_assert_eq!(text(&read), text(&value));
            }
            Err(error) => prop_assert!(!value.fits(), "refused: {value:?}: {error}"),
        }
    }

    #[test]
    fn numbers_round_trip_bit_for_bit(single in single(), double in double(), wide in any::<(i128, u128)>()) {
        if single.is_finite() {
            prop_assert_eq!(load::<f32>(store(&single).unwrap()).unwrap().to_bits(), single.to_bits());
        }
        if double.is_finite() {
            prop_assert_eq!(load::<f64>(store(&double).unwrap()).unwrap().to_bits(), double.to_bits());
        }
        prop_assert_eq!(load::<(i128, u128)>(store(&wide).unwrap()).unwrap(), wide);
    }

    #[test]
    fn corrupt_payload_never_panics_and_truncated_one_fails(
        value in anything(), cut in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let Ok(stored) = store(&value) else { return Ok(()) };
        let mut bytes = stored.bytes().to_vec();
        let at = cut.index(bytes.len());
        bytes[at] = byte;
        let payload = |bytes: &[u8]| superstep::payload::Payload::new(stored.encoding(), bytes);
        // The changed payload may be valid, but reading it must not panic.
        drop(load::<Any>(payload(&bytes)));
        prop_assert!(load::<Any>(payload(&bytes[..at])).is_err());
    }
}
