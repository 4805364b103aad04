use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use superstep::checkpoint::ChangeKind;
use superstep::payload::{Encoding, Payload};
use superstep::reducers::Replace;
use superstep::state::{EncodeError, FieldPlace, Restore, RestoreError, encode_value};

use super::field;

const PLACE: FieldPlace = FieldPlace::__new(0, &["field"], false);
const EXCLUDED: FieldPlace = FieldPlace::__new(0, &["field"], true);

/// Encodes a value, and checks that an error leaves the buffer unchanged.
pub(super) fn store<T: Serialize>(value: &T) -> Result<Payload, EncodeError> {
    let mut bytes = b"before".to_vec();
    let stored = encode_value(&PLACE, value, &mut bytes);
    match stored {
        Ok(encoding) => Ok(Payload::new(encoding, &bytes["before".len()..])),
        Err(error) => {
            assert_eq!(bytes, b"before", "the buffer was changed");
            Err(error)
        }
    }
}

pub(super) fn load<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    payload: Payload,
) -> Result<T, RestoreError> {
    let mut restore = Restore::new(vec![field("field", [(1, ChangeKind::Value, payload)])]);
    restore.field::<Replace, T>(&PLACE, || None)
}

/// Serialized as bytes, like `bytes::Bytes` and `serde_bytes::ByteBuf`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Blob(pub(super) Vec<u8>);

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl<'de> Visitor<'de> for Bytes {
            type Value = Blob;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Blob, E> {
                Ok(Blob(bytes.to_vec()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Blob, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = items.next_element()? {
                    bytes.push(byte);
                }
                Ok(Blob(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}

#[track_caller]
fn refused<T: Serialize>(value: T, expected: &str) {
    assert_eq!(store(&value).unwrap_err().to_string(), expected);
}

#[derive(Serialize)]
enum Shape {
    Of(f64),
    Many(u8, f64),
    Named { size: Vec<Option<f64>> },
}

#[test]
fn non_finite_numbers_are_refused_with_their_path() {
    let what = "JSON cannot represent NaN or infinity";
    refused(f32::NAN, &format!("field `field` cannot be stored: {what}"));
    let at = |path: &str| format!("field `field` cannot be stored, because of the value at `{path}`: {what}");
    refused(vec![0.0, f64::INFINITY], &at("$[1]"));
    refused(BTreeMap::from([("a b", (1, f64::NAN))]), &at("$[\"a b\"][1]"));
    refused(BTreeMap::from([(-3, Some(f32::NEG_INFINITY))]), &at("$.-3"));
    refused(Some(Shape::Of(f64::NAN)), &at("$.Of"));
    refused([Shape::Many(1, f64::NAN)], &at("$[0].Many[1]"));
    refused(Shape::Named { size: vec![None, Some(f64::NAN)] }, &at("$.Named.size[1]"));
}

#[test]
fn some_value_written_as_null_is_refused() {
    #[derive(Serialize)]
    struct Unit;
    #[derive(Serialize)]
    struct Wrapped<T>(T);
    let what = "field `field` cannot be stored: \
                it is a `Some` with content that is written as null, so it would be read as `None`";
    refused(Some(None::<u8>), what);
    refused(Some(Some(None::<u8>)), what);
    refused(Some(()), what);
    refused(Some(Unit), what);
    refused(Some(Wrapped(Wrapped(None::<u8>))), what);
    refused(Some(serde_json::Value::Null), what);
    for fits in [Some(Some(3)), None] {
        assert_eq!(load::<Option<Option<u8>>>(store(&fits).unwrap()).unwrap(), fits);
    }
    let inside = vec![Some(vec![None::<()>]), None];
    assert_eq!(load::<Vec<Option<Vec<Option<()>>>>>(store(&inside).unwrap()).unwrap(), inside);
}

#[test]
fn unsupported_map_keys_are_refused() {
    let what = "field `field` cannot be stored: \
                a key of a JSON object must be a string, an integer, a `bool` or the name of a variant";
    refused(BTreeMap::from([((1, 2), 3)]), what);
    refused(BTreeMap::from([(Some(1), 3)]), what);
    refused(BTreeMap::from([((), 3)]), what);
    refused(BTreeMap::from([(Blob(vec![1]), 3)]), what);
    refused(BTreeMap::from([([1.5_f32.to_bits()], 3)]), what);
}

#[test]
fn excluded_values_are_not_in_the_error() {
    let secrets = BTreeMap::from([("hunter2", f64::NAN)]);
    let error = encode_value(&EXCLUDED, &secrets, &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "field `field` cannot be stored: JSON cannot represent NaN or infinity");
    let error = encode_value(&EXCLUDED, &Talkative("hunter2"), &mut Vec::new()).unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");
    let mut restore = Restore::new(vec![field("field", [super::value(1, "\"hunter2\"")])]);
    let error = restore.field::<Replace, u8>(&EXCLUDED, || None).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
}

struct Talkative(&'static str);

impl Serialize for Talkative {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom(format!("{} is not for sale", self.0)))
    }
}

struct Explosive;

impl Serialize for Explosive {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("bang");
    }
}

#[derive(Clone, Debug)]
struct Duds;

impl<'de> Deserialize<'de> for Duds {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("bang");
    }
}

#[test]
fn error_or_panic_of_the_type_is_the_reason() {
    refused(Talkative("it"), "field `field` cannot be stored: it is not for sale");
    refused(
        vec![Talkative("it")],
        "field `field` cannot be stored, because of the value at `$[0]`: it is not for sale",
    );
    refused(Explosive, "field `field` cannot be stored: its code panicked: bang");
    let error = load::<Duds>(Payload::json("1")).unwrap_err();
    assert!(error.to_string().ends_with("its code panicked: bang"), "{error}");
}

/// Goes on after the errors of its parts, so that its JSON lacks them.
enum Ignores {
    Items,
    Fields,
    Values,
    Keys,
    ErrorsOfTypes,
}

impl Serialize for Ignores {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Items => {
                let mut items = serializer.serialize_seq(None)?;
                let _ = items.serialize_element(&f64::NAN);
                items.serialize_element(&1)?;
                items.end()
            }
            Self::Fields => {
                let mut fields = serializer.serialize_struct("Ignores", 1)?;
                let _ = fields.serialize_field("size", &f64::NAN);
                fields.end()
            }
            Self::Values => {
                let mut map = serializer.serialize_map(None)?;
                let _ = map.serialize_entry("size", &f64::NAN);
                map.end()
            }
            Self::Keys => {
                let mut map = serializer.serialize_map(None)?;
                let _ = map.serialize_key(&1.5);
                map.serialize_entry("size", &1)?;
                map.end()
            }
            Self::ErrorsOfTypes => {
                let mut items = serializer.serialize_seq(None)?;
                let _ = items.serialize_element(&Talkative("hunter2"));
                items.serialize_element(&1)?;
                items.end()
            }
        }
    }
}

#[test]
fn value_that_ignores_an_error_of_a_part_is_refused() {
    let nan = "JSON cannot represent NaN or infinity";
    let at = |path: &str| format!("field `field` cannot be stored, because of the value at `{path}`: ");
    refused(Ignores::Items, &(at("$[0]") + nan));
    refused(Ignores::Fields, &(at("$.size") + nan));
    refused(Ignores::Values, &(at("$.size") + nan));
    refused(
        Ignores::Keys,
        "field `field` cannot be stored: \
         a key of a JSON object must be a string, an integer, a `bool` or the name of a variant",
    );
    let ignored = "its `Serialize` implementation ignored an error, so a part of it is missing";
    refused(Ignores::ErrorsOfTypes, &(at("$[0]") + ignored));
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Nest(Vec<Nest>);

fn nest(levels: usize) -> Nest {
    (1..levels).fold(Nest(vec![]), |inner, _| Nest(vec![inner]))
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Chain {
    End,
    Link { next: Box<Chain> },
}

#[test]
fn too_deeply_nested_values_are_refused() {
    assert_eq!(load::<Nest>(store(&nest(127)).unwrap()).unwrap(), nest(127));
    let error = store(&nest(128)).unwrap_err().to_string();
    assert!(
        error.contains("its arrays and objects are nested more than 127 deep, which cannot be read back"),
        "{error}"
    );
    let chain = |links| (0..links).fold(Chain::End, |next, _| Chain::Link { next: Box::new(next) });
    assert_eq!(load::<Chain>(store(&chain(63)).unwrap()).unwrap(), chain(63));
    assert!(store(&chain(64)).is_err());
    assert!(store(&(nest(126), Blob(vec![]))).is_ok());
}

#[test]
fn byte_values_are_stored_as_bytes() {
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Wrapped(Option<Blob>);
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Either {
        Blob(Blob),
        Text(String),
    }
    let blob = Blob(vec![0, 255, b'"']);
    let stored = store(&blob).unwrap();
    assert_eq!((stored.encoding(), stored.bytes()), (Encoding::Bytes, &blob.0[..]));
    assert_eq!(load::<Blob>(stored).unwrap(), blob);
    for wrapped in [Wrapped(Some(blob.clone())), Wrapped(Some(Blob::default())), Wrapped(None)] {
        assert_eq!(load::<Wrapped>(store(&wrapped).unwrap()).unwrap(), wrapped);
    }
    for either in [Either::Blob(blob.clone()), Either::Text("x".to_owned())] {
        assert_eq!(load::<Either>(store(&either).unwrap()).unwrap(), either);
    }
    let stored = store(&vec![blob.clone()]).unwrap();
    assert_eq!((stored.encoding(), stored.bytes()), (Encoding::Json, b"[[0,255,34]]".as_slice()));
    assert_eq!(load::<Vec<Blob>>(stored).unwrap(), vec![blob]);
}

#[test]
fn stored_bytes_can_be_read_as_numbers() {
    assert_eq!(load::<Vec<u8>>(store(&Blob(vec![1, 2])).unwrap()).unwrap(), [1, 2]);
    assert_eq!(load::<(u8, u8)>(store(&Blob(vec![1, 2])).unwrap()).unwrap(), (1, 2));
    let error = load::<u8>(store(&Blob(vec![1])).unwrap()).unwrap_err();
    assert!(error.to_string().ends_with("invalid type: byte array, expected u8"), "{error}");
}
