//! Types of answers, in every form that serde can give them.
#![expect(dead_code, reason = "the fields of the types are only deserialized")]

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU8;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
pub(super) struct Verdict {
    pub(super) approved: bool,
    #[serde(alias = "note")]
    pub(super) comment: String,
    #[serde(default)]
    pub(super) stars: u8,
    pub(super) by: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Review {
    Approve,
    #[serde(alias = "correct")]
    Edit {
        text: String,
        lines: Vec<u32>,
    },
    Reject(String),
    Move(i8, char),
}

#[derive(Serialize, Deserialize)]
pub(super) enum Plain {
    Yes,
    #[serde(alias = "Never")]
    No,
}

#[derive(Serialize, Deserialize)]
pub(super) enum Open {
    TaskProgress,
    #[serde(other)]
    Other,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Strict {
    pub(super) a: u16,
    #[serde(rename = "bee")]
    pub(super) b: Option<f32>,
}

#[derive(Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Lax {
    pub(super) a: u16,
    pub(super) list: Vec<Plain>,
}

impl Default for Lax {
    fn default() -> Self {
        Self { a: 1, list: Vec::new() }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct Flat {
    pub(super) id: u32,
    #[serde(flatten)]
    pub(super) verdict: Verdict,
    #[serde(flatten)]
    pub(super) rest: HashMap<String, Value>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "kind")]
pub(super) enum Internal {
    Empty,
    Full { text: String },
    Inner(Strict),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
pub(super) enum Adjacent {
    Full(String),
    Empty,
    Both { a: u8, b: bool },
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "t", content = "c", deny_unknown_fields)]
pub(super) enum AdjacentStrict {
    Pair(u8, u8),
    One(String),
}

/// No enum, but similar to an adjacently tagged one.
#[derive(Serialize, Deserialize)]
pub(super) struct Likely {
    pub(super) kind: Plain,
    pub(super) value: Value,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Untagged {
    Number(u8),
    Text(String),
    Verdict(Verdict),
}

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Transparent {
    pub(super) inner: Vec<(u8, bool)>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Newtype(pub(super) Box<Verdict>);

#[derive(Serialize, Deserialize)]
pub(super) struct Tree {
    pub(super) value: i64,
    pub(super) children: Vec<Tree>,
    pub(super) parent: Option<Box<Tree>>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Endless(pub(super) Box<Endless>);

#[derive(Serialize, Deserialize)]
pub(super) struct Pair(pub(super) u8, #[serde(default)] String);

#[derive(Serialize, Deserialize)]
pub(super) struct Checked {
    pub(super) size: NonZeroU8,
    pub(super) address: IpAddr,
    #[serde(default, with = "text_or_number")]
    pub(super) amount: u64,
    #[serde(skip)]
    pub(super) cache: u8,
    pub(super) after: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Unit;

#[derive(Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
#[derive(Clone)]
pub(super) struct Percent(pub(super) u8);

impl TryFrom<u8> for Percent {
    type Error = String;

    fn try_from(value: u8) -> Result<Self, String> {
        if value > 100 { Err("too much".to_owned()) } else { Ok(Self(value)) }
    }
}

impl From<Percent> for u8 {
    fn from(percent: Percent) -> u8 {
        percent.0
    }
}

pub(super) mod text_or_number {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use serde_json::Value;

    pub(super) fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(*value)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => text.parse().map_err(D::Error::custom),
            number => number.as_u64().ok_or_else(|| D::Error::custom("no number")),
        }
    }
}

/// Reads whole numbers with a decimal point under an integer's hint.
pub(super) struct Loose(pub(super) u8);

impl Serialize for Loose {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.0)
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Loose;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number")
            }
            fn visit_u64<E>(self, value: u64) -> Result<Loose, E> {
                Ok(Loose(value as u8))
            }
            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Loose, E> {
                if value.fract() == 0.0 { Ok(Loose(value as u8)) } else { Err(E::custom("a fraction")) }
            }
        }
        deserializer.deserialize_u8(Visitor)
    }
}

/// Panics on unusual values.
#[derive(Serialize)]
pub(super) struct Panics(pub(super) String);

impl<'de> Deserialize<'de> for Panics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        assert!(text.len() > 3, "too short");
        Ok(Self(text))
    }
}
