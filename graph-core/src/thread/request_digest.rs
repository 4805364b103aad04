//! The digest of a request from outside. It tells apart different requests with the same idempotency key.
//!
//! It is no protection against someone who looks for collisions: a caller can only mislead itself.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::checkpoint::CheckpointId;
use crate::erased::{TaskWrites, packet_json};
use crate::interrupt::Answer;
use crate::payload::Encoding;
use crate::step::{Exit, Leave};

use super::as_node::Taken;
use super::goto::To;
use super::{AsNode, Goto};

/// A digest that is being computed: 128 bits of FNV-1a over parts with their lengths.
#[derive(Clone, Copy)]
struct Digest(u128);

impl Digest {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013B;

    /// Starts a digest of this kind of value.
    fn of(kind: &str) -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d).bytes(kind.as_bytes())
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        let add = |hash: u128, byte: &u8| (hash ^ u128::from(*byte)).wrapping_mul(Self::PRIME);
        let length = (bytes.len() as u64).to_le_bytes();
        Self(length.iter().chain(bytes).fold(self.0, add))
    }

    fn and(self, other: Self) -> Self {
        self.bytes(&other.0.to_le_bytes())
    }

    /// Adds values in any order: a map or a set has another order in each process.
    fn unordered(self, others: impl Iterator<Item = Self>) -> Self {
        let (sum, count) =
            others.fold((0_u128, 0_u64), |(sum, count), other| (sum.wrapping_add(other.0), count + 1));
        self.bytes(&sum.to_le_bytes()).bytes(&count.to_le_bytes())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Returns the digest of a resumption.
pub(super) fn of_resumption(answers: &[Answer], update: Option<&TaskWrites>, goto: &[Goto]) -> String {
    let answers = answers.iter().map(|answer| {
        let answered = Digest::of("answer").bytes(answer.id().as_bytes());
        match answer.value() {
            Some(value) => answered.and(json(value)),
            None => answered,
        }
    });
    let digest = Digest::of("resume").unordered(answers);
    let digest = goto.iter().fold(digest, |digest, node| digest.and(added(node)));
    update.map_or(digest, |update| digest.and(writes(update))).to_string()
}

/// Returns the digest of an update of these supersteps at a checkpoint.
pub(crate) fn of_update(
    at: Option<CheckpointId>,
    supersteps: &[Vec<(TaskWrites, Option<AsNode>)>],
) -> String {
    let at = at.map(|at| at.to_string()).unwrap_or_default();
    let superstep = |updates: &Vec<(TaskWrites, Option<AsNode>)>| {
        updates.iter().fold(Digest::of("superstep"), |digest, (update, node)| {
            digest.and(writes(update)).and(place(node.as_ref()))
        })
    };
    let digest = Digest::of("update").bytes(at.as_bytes());
    supersteps.iter().map(superstep).fold(digest, Digest::and).to_string()
}

/// The digest of the place of an update, with its route.
fn place(node: Option<&AsNode>) -> Digest {
    let Some(node) = node else { return Digest::of("inferred") };
    let digest = Digest::of("node").bytes(node.name().as_bytes());
    match &node.taken {
        None => digest,
        Some(Taken::Typed { exits, leave }) => digest.and(route(exits, leave.as_ref().ok())),
        Some(Taken::Named(routes)) => routes.iter().fold(digest, |digest, route| {
            digest.and(packet(Digest::of("route").bytes(route.name.as_bytes()), route.packet.as_ref()))
        }),
    }
}

/// The digest of a node that a resumption adds.
fn added(goto: &Goto) -> Digest {
    match &goto.0 {
        To::Node { node, packet: json, .. } => {
            packet(Digest::of("goto").bytes(node.name().as_bytes()), json.as_ref())
        }
        To::Route { exits, leave } => route(exits, leave.as_ref().ok()),
    }
}

fn packet(digest: Digest, packet: Option<&Value>) -> Digest {
    packet.map_or(digest, |packet| digest.and(json(packet)))
}

/// The digest of the exits of a route that were taken, with their packets.
fn route(exits: &[Exit], leave: Option<&Leave>) -> Digest {
    let choices = leave.map(Leave::choices).unwrap_or_default();
    choices.iter().fold(Digest::of("exits"), |digest, choice| {
        let digest = digest.bytes(exits.get(choice.exit).map_or("", |exit| exit.label).as_bytes());
        let packet = choice.packet.as_ref().and_then(|packet| packet_json(packet).ok());
        packet.map_or(digest, |packet| digest.and(json_text(packet.get())))
    })
}

/// The digest of an update as the caller made it, before reducers have prepared it.
fn writes(update: &TaskWrites) -> Digest {
    let Some(writes) = update.as_erased() else { return Digest::of("nothing") };
    let mut bytes = Vec::new();
    update.fields().enumerate().fold(Digest::of("writes"), |digest, (nth, field)| {
        bytes.clear();
        let name = writes.state_type().field(field).map_or("", |spec| spec.name);
        let digest = digest.bytes(name.as_bytes());
        match writes.encode(nth, &mut bytes) {
            Ok(Some((form, Encoding::Json))) => {
                let text = std::str::from_utf8(&bytes).unwrap_or_default();
                digest.bytes(format!("{form:?}").as_bytes()).and(json_text(text))
            }
            Ok(Some((form, _))) => digest.bytes(format!("{form:?}").as_bytes()).bytes(&bytes),
            // An untracked field, or a value that is refused when it is stored.
            Ok(None) | Err(_) => digest,
        }
    })
}

fn json(value: &Value) -> Digest {
    value.deserialize_any(AnyJson).unwrap_or_else(|_| Digest::of("unreadable"))
}

fn json_text(text: &str) -> Digest {
    let mut from = serde_json::Deserializer::from_str(text);
    let digest = from.deserialize_any(AnyJson).unwrap_or_else(|_| Digest::of("unreadable"));
    let mut long = long_numbers(text).peekable();
    match long.peek() {
        Some(_) => digest.unordered(long.map(|number| Digest::of("long").bytes(number.as_bytes()))),
        None => digest,
    }
}

/// Returns the numbers of a JSON text that have more digits than a number of serde: several of them are read as the same
/// one. Parts of strings are returned too.
fn long_numbers(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c));
    parts.filter(|part| {
        let digits = part.split(['e', 'E']).next().unwrap_or_default();
        let digits = digits.trim_start_matches(|c: char| !matches!(c, '1'..='9'));
        digits.len() > F64_DIGITS
            && digits.bytes().filter(u8::is_ascii_digit).count() > F64_DIGITS
            && part.parse::<u64>().is_err()
            && part.parse::<i64>().is_err()
    })
}

/// The greatest number of digits of an `f64` as serde writes it.
const F64_DIGITS: usize = 17;

/// Reads the digest of any JSON value, without the value.
struct AnyJson;

impl<'de> DeserializeSeed<'de> for AnyJson {
    type Value = Digest;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Digest, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyJson {
    type Value = Digest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Digest, E> {
        Ok(Digest::of("null"))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Digest, E> {
        Ok(Digest::of("bool").bytes(&[u8::from(value)]))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Digest, E> {
        Ok(Digest::of("number").bytes(value.to_string().as_bytes()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Digest, E> {
        Ok(Digest::of("number").bytes(value.to_string().as_bytes()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Digest, E> {
        Ok(Digest::of("number").bytes(value.to_string().as_bytes()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Digest, E> {
        Ok(Digest::of("string").bytes(value.as_bytes()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Digest, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(AnyJson)? {
            items.push(item);
        }
        // The items of a set come in any order.
        Ok(Digest::of("list").unordered(items.into_iter()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Digest, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            entries.push(Digest::of("entry").bytes(key.as_bytes()).and(map.next_value_seed(AnyJson)?));
        }
        Ok(Digest::of("object").unordered(entries.into_iter()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use serde_json::json;

    use super::{json, json_text, of_resumption};
    use crate::interrupt::Answer;

    #[test]
    fn different_values_have_different_digests() {
        let values = [
            json!(null),
            json!(false),
            json!(true),
            json!(0),
            json!(1),
            json!(-1),
            json!(0.5),
            json!("0"),
            json!(""),
            json!([]),
            json!([0]),
            json!([0, 0]),
            json!([[0], []]),
            json!([[0, 0]]),
            json!([[], [0], []]),
            json!({}),
            json!({"a": 1}),
            json!({"a": "1"}),
            json!({"b": 1}),
            json!({"a": {"b": 1}}),
            json!({"a": 1, "b": 1}),
        ];
        let digests: HashSet<String> = values.iter().map(|value| json(value).to_string()).collect();
        assert_eq!(digests.len(), values.len());
        for value in &values {
            assert_eq!(json(value).to_string(), json_text(&value.to_string()).to_string(), "{value}");
        }
    }

    #[test]
    fn numbers_that_are_too_long_for_serde_have_different_digests() {
        let texts = [
            "[18446744073709551615]",
            "[18446744073709551616]",
            "[18446744073709551617]",
            "[-170141183460469231731687303715884105728]",
            "[-170141183460469231731687303715884105727]",
            r#"{"a":0.1234567890123456789}"#,
            r#"{"a":0.1234567890123456788}"#,
        ];
        let digests: HashSet<String> = texts.iter().map(|text| json_text(text).to_string()).collect();
        assert_eq!(digests.len(), texts.len());
        for short in ["0.1", "1e300", "-0.00001234567890123456", "1234567890123456.7", "18446744073709551615"]
        {
            assert_eq!(super::long_numbers(short).count(), 0, "{short}");
        }
    }

    #[test]
    fn order_of_maps_and_sets_does_not_matter() {
        // Each map has its own iteration order.
        let digest = |_| {
            let map: HashMap<u8, HashSet<u8>> = (0..9).map(|n| (n, (0..9).collect())).collect();
            json_text(&serde_json::to_string(&map).unwrap()).to_string()
        };
        let digests: HashSet<String> = (0..9).map(digest).collect();
        assert_eq!(digests.len(), 1);
    }

    #[test]
    fn digest_does_not_change_between_versions() {
        let answers = [Answer::json("1:0/Approve/0", json!({"yes": true, "why": [1, 2.5, null]}))];
        assert_eq!(of_resumption(&answers, None, &[]), "0377e9cdfcb8ee465a45714cc39405fe");
    }
}
