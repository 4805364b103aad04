//! Fields that are stored through their own serialization functions.

use serde::{Deserialize, Deserializer, Serializer};
use superstep::reducers::{ReduceError, Reducer, Stamp, StoredAs};
use superstep::state::Update;
use superstep::{GraphState, Overwrite};

use super::{Form, all_fields, delta, field, json, prepared, read_back, restored, stored, value};

/// A number that field functions store as a hexadecimal string.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
struct Hex(u64);

mod hex {
    use super::*;

    pub(super) fn serialize<S: Serializer>(hex: &Hex, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:x}", hex.0))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Hex, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map(Hex).map_err(serde::de::Error::custom)
    }
}

fn read_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| text.parse().map_err(serde::de::Error::custom)).transpose()
}

fn read_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    u64::deserialize(deserializer).map(|number| number + 1)
}

/// Takes numbers and stores them as deltas.
enum Summed {}

impl Reducer<Hex> for Summed {
    type Update = u64;
    type Delta = u64;

    const STORED: StoredAs = StoredAs::Delta;

    fn prepare(update: u64, _: &Stamp<'_>) -> Result<u64, ReduceError> {
        Ok(update)
    }

    fn fold(value: &mut Hex, delta: u64) -> Result<(), ReduceError> {
        value.0 += delta;
        Ok(())
    }
}

fn shift(hex: &mut Hex, by: u8) {
    hex.0 <<= by;
}

fn replace(hex: &mut Hex, by: Hex) {
    *hex = by;
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Coded {
    #[state(with = hex)]
    plain: Hex,
    #[state(with = hex, reducer = max)]
    most: Hex,
    #[state(with = hex, reducer = Summed)]
    sum: Hex,
    #[state(with = hex, reducer = shift, takes = u8)]
    shifted: Hex,
    #[state(with = hex, reducer = replace)]
    replaced: Hex,
    #[state(serialize_with = display, deserialize_with = read_seconds)]
    seconds: Option<u64>,
    #[state(deserialize_with = read_number)]
    reads_only: u64,
}

fn coded() -> Coded {
    Coded {
        plain: Hex(0xa),
        most: Hex(0xb),
        sum: Hex(0xc),
        shifted: Hex(0xd),
        replaced: Hex(0xe),
        seconds: Some(90),
        reads_only: 1,
    }
}

#[test]
fn values_are_stored_through_field_functions() {
    let fields = all_fields(&coded());
    let texts: Vec<&str> = fields.iter().map(|field| json(&field.changes[0].payload)).collect();
    assert_eq!(texts, ["\"a\"", "\"b\"", "\"c\"", "\"d\"", "\"e\"", "\"90\"", "1"]);
    assert_eq!(restored::<Coded>(fields).unwrap(), Coded { reads_only: 2, ..coded() });
}

#[test]
fn deltas_of_the_field_type_use_field_functions() {
    let update = || {
        Coded::update()
            .plain(Hex(0x1f))
            .most(Hex(0x2f))
            .sum(0x3f_u64)
            .shifted(4_u8)
            .replaced(Hex(0x5f))
            .seconds(None)
            .sum(Overwrite(Hex(0x6f)))
            .shifted(Overwrite(Hex(0x7f)))
    };
    let stored = prepared::<Coded>(update()).map(|write| stored::<Coded>(&write).unwrap().unwrap());
    let stored: Vec<(Form, String)> =
        stored.map(|(form, payload)| (form, json(&payload).to_owned())).collect();
    let expected = [
        (Form::Delta, "\"1f\""),
        (Form::Delta, "\"2f\""),
        (Form::Delta, "63"),
        (Form::Delta, "4"),
        (Form::Delta, "\"5f\""),
        (Form::Delta, "null"),
        (Form::Overwrite, "\"6f\""),
        (Form::Overwrite, "\"7f\""),
    ];
    assert_eq!(stored, expected.map(|(form, text)| (form, text.to_owned())));
    let read = read_back::<Coded>(update());
    assert_eq!(read.get(Coded::PLAIN), Some(&Hex(0x1f)));
    assert_eq!(read.values::<u64>(Coded::SUM).collect::<Vec<_>>(), [&0x3f]);
    assert_eq!(read.values::<Hex>(Coded::SHIFTED).collect::<Vec<_>>(), [&Hex(0x7f)]);
    let after = coded().updated(read).unwrap();
    assert_eq!((after.most, after.sum, after.shifted), (Hex(0x2f), Hex(0x6f), Hex(0x7f)));
    assert_eq!((after.replaced, after.seconds), (Hex(0x5f), None));
}

#[test]
fn deltas_of_another_type_fold_into_the_decoded_value() {
    let coded = restored::<Coded>(vec![field("sum", [value(1, "\"ff\""), delta(2, "1")])]).unwrap();
    assert_eq!(coded.sum, Hex(0x100));
}
