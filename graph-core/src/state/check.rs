//! Mistakes in a state that `compile()` finds.

use std::any::TypeId;
use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};

use super::validate::{Report, Violation};

/// Collects the mistakes; generated code calls it.
#[derive(Debug, Default)]
pub struct StateCheck {
    pub(crate) violations: Vec<Violation>,
    pub(crate) keys: Vec<WrongKey>,
    /// The state and all states flattened into it.
    pub(crate) parts: Vec<TypeId>,
}

/// A map whose keys JSON cannot hold.
#[derive(Debug)]
pub(crate) struct WrongKey {
    pub(crate) field: &'static str,
    pub(crate) key: &'static str,
}

impl StateCheck {
    /// Adds the state, or one that is flattened into it.
    pub fn part<S: 'static>(&mut self) {
        self.parts.push(TypeId::of::<S>());
    }

    /// Checks a start value by the rules of its field. A start value that panics is left to the run.
    pub fn start(&mut self, check: impl FnOnce(&mut Report)) {
        let report = superstep_store::contain::contained(|| {
            let mut report = Report::default();
            check(&mut report);
            report
        });
        let broken = report.unwrap_or_default().into_violations().into_iter();
        self.violations.extend(broken.map(|(_, violation)| violation));
    }

    /// Checks the type of the keys of a map by the way it is read.
    pub fn key<K: DeserializeOwned>(&mut self, field: &'static str) {
        let read = superstep_store::contain::contained(|| K::deserialize(Key).err());
        if let Ok(Some(NotRead { compound: true })) = read {
            self.keys.push(WrongKey { field, key: short(std::any::type_name::<K>()) });
        }
    }
}

/// Returns the last segment of a path; a generic type keeps its paths.
fn short(name: &'static str) -> &'static str {
    if name.contains('<') { name } else { name.rsplit("::").next().unwrap_or(name) }
}

/// Reads no value, and finds out whether the type asks for a compound one.
struct Key;

#[derive(Debug)]
struct NotRead {
    compound: bool,
}

impl fmt::Display for NotRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no key was read")
    }
}

impl std::error::Error for NotRead {}

impl Error for NotRead {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self { compound: false }
    }
}

macro_rules! asked {
    ($($method:ident: $compound:literal,)*) => {$(
        fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NotRead> {
            Err(NotRead { compound: $compound })
        }
    )*};
}

impl<'de> Deserializer<'de> for Key {
    type Error = NotRead;

    asked! {
        deserialize_any: false,
        deserialize_bool: false,
        deserialize_i8: false,
        deserialize_i16: false,
        deserialize_i32: false,
        deserialize_i64: false,
        deserialize_i128: false,
        deserialize_u8: false,
        deserialize_u16: false,
        deserialize_u32: false,
        deserialize_u64: false,
        deserialize_u128: false,
        deserialize_f32: false,
        deserialize_f64: false,
        deserialize_char: false,
        deserialize_str: false,
        deserialize_string: false,
        deserialize_bytes: false,
        deserialize_byte_buf: false,
        deserialize_identifier: false,
        deserialize_ignored_any: false,
        deserialize_option: true,
        deserialize_unit: true,
        deserialize_seq: true,
        deserialize_map: true,
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, _: V) -> Result<V::Value, NotRead> {
        Err(NotRead { compound: true })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, NotRead> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, NotRead> {
        Err(NotRead { compound: true })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        _: V,
    ) -> Result<V::Value, NotRead> {
        Err(NotRead { compound: true })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, NotRead> {
        Err(NotRead { compound: true })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, NotRead> {
        Err(NotRead { compound: false })
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Id(#[expect(dead_code, reason = "never read")] u64);

    #[derive(Deserialize)]
    enum Kind {
        Small,
    }

    #[derive(Deserialize)]
    struct Place {
        #[expect(dead_code, reason = "never read")]
        row: u32,
    }

    #[test]
    fn only_compound_keys_are_refused() {
        let mut check = StateCheck::default();
        check.key::<String>("string");
        check.key::<u64>("number");
        check.key::<Id>("newtype");
        check.key::<Kind>("enum");
        check.key::<std::net::IpAddr>("address");
        assert!(check.keys.is_empty());
        check.key::<Place>("struct");
        check.key::<(u32, u32)>("tuple");
        let fields: Vec<_> = check.keys.iter().map(|wrong| wrong.field).collect();
        assert_eq!(fields, ["struct", "tuple"]);
        let _ = Kind::Small;
    }
}
