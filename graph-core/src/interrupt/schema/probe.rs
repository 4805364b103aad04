//! A deserializer that observes which JSON a type asks for.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use serde::de::{Deserializer, Visitor};

use super::access::{Keys, List, Offer, Offers, OneOf, OnlyItem, Tagged};
use super::hint::{Hint, Tag, Turn};
use super::stop::{Stop, StructKey};

/// A value that is offered to a type.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sample<'r> {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(&'static str),
    /// A list of this length, with fitting items.
    Items(usize),
    /// An object with these keys, with fitting values.
    Keys(&'r [&'static str]),
    /// A variant of this name, with a fitting payload.
    Variant(&'static str),
    /// An object with this tag only.
    Tag(Tag),
}

/// One deserialization of the type, along a path to the observed part.
pub(super) struct Run<'r> {
    pub(super) path: &'r [Turn],
    /// The sample for the part at the end of the path; `None` to observe its hint only.
    pub(super) sample: Option<Sample<'r>>,
    /// Varies the values that fill the parts next to the path.
    pub(super) level: usize,
    /// The required fields of structs that fill such parts, as far as they are known.
    pub(super) learned: &'r RefCell<HashMap<StructKey, Vec<&'static str>>>,
    /// The hint of the part at the end of the path.
    pub(super) found: Cell<Option<Hint>>,
    /// The reply of that part to the sample.
    pub(super) reply: Cell<Option<Result<(), Stop>>>,
    /// The number of items that a list has taken of the sample.
    pub(super) taken: Cell<usize>,
    /// `true` if the values of the last map on the path may depend on their keys.
    pub(super) named_key: Cell<bool>,
    /// The largest number of variants of an enum that was filled.
    pub(super) variants: Cell<usize>,
    pub(super) depth: Cell<usize>,
}

/// The nesting at which a run gives up, for types that contain themselves without a list or an option between.
const DEEPEST: usize = 48;

/// The part of the sample that a [`Probe`] produces.
#[derive(Clone, Copy)]
pub(super) enum Mode {
    /// Follows the path from this index on.
    Follow(usize),
    /// Produces any fitting value.
    Fill,
    /// Produces a key.
    Key(&'static str),
}

#[derive(Clone, Copy)]
pub(super) struct Probe<'r> {
    pub(super) run: &'r Run<'r>,
    pub(super) mode: Mode,
}

impl Offer for Probe<'_> {
    fn filling(self) -> Self {
        self.with(Mode::Fill)
    }

    fn key(self, key: &'static str) -> Self {
        self.with(Mode::Key(key))
    }

    fn set_taken(self, items: usize) {
        self.run.taken.set(items);
    }
}

impl<'de> Offers<'de> for Probe<'_> {
    fn node<V: Visitor<'de>>(self, hint: Hint, visitor: V) -> Result<V::Value, Stop> {
        Probe::node(self, hint, visitor)
    }
}

impl<'r> Probe<'r> {
    pub(super) fn node<'de, V: Visitor<'de>>(self, hint: Hint, visitor: V) -> Result<V::Value, Stop> {
        self.deeper()?;
        let result = match self.mode {
            Mode::Follow(at) => match self.run.path.get(at) {
                Some(turn) => self.follow(hint, *turn, at + 1, visitor),
                None => self.at_end(hint, visitor),
            },
            Mode::Fill => self.offer(self.filling(hint), hint, visitor),
            Mode::Key(key) => self.key(key, hint, visitor),
        };
        self.run.depth.set(self.run.depth.get().saturating_sub(1));
        result
    }

    fn deeper(self) -> Result<(), Stop> {
        let depth = self.run.depth.get() + 1;
        self.run.depth.set(depth);
        if depth > DEEPEST { Err(Stop::OTHER) } else { Ok(()) }
    }

    fn with(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    fn at_end<'de, V: Visitor<'de>>(self, hint: Hint, visitor: V) -> Result<V::Value, Stop> {
        self.run.found.set(Some(hint));
        let Some(sample) = self.run.sample else { return Err(Stop::OTHER) };
        let result = self.offer(Filling::Sample(sample), hint, visitor);
        self.run.reply.set(Some(match &result {
            Ok(_) => Ok(()),
            Err(stop) => Err(*stop),
        }));
        result
    }

    fn follow<'de, V: Visitor<'de>>(
        self,
        hint: Hint,
        turn: Turn,
        next: usize,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let inner = self.with(Mode::Follow(next));
        match (hint, turn) {
            (Hint::Option, Turn::Some) => visitor.visit_some(inner),
            (Hint::List | Hint::Tuple(_), Turn::Item(index)) => {
                visitor.visit_seq(OnlyItem::new(inner, index))
            }
            (Hint::Struct(..), Turn::Field(key)) => visitor.visit_map(Keys::one(inner, key)),
            (Hint::Struct(..), Turn::Content(tag, key)) => {
                visitor.visit_map(Tagged::new(inner, tag, Some(key)))
            }
            (Hint::Map, Turn::Value(key)) => {
                self.run.named_key.set(!is_map::<V::Value>());
                visitor.visit_map(Keys::one(inner, key))
            }
            (Hint::Enum(_), Turn::Variant(name)) => visitor.visit_enum(OneOf::new(inner, name)),
            _ => Err(Stop::OTHER),
        }
    }

    /// Produces a key of a map, or the name of a field or a variant.
    fn key<'de, V: Visitor<'de>>(self, key: &'static str, hint: Hint, visitor: V) -> Result<V::Value, Stop> {
        match hint {
            Hint::Integer(..) | Hint::Float => match key.parse() {
                Ok(number) => visitor.visit_u64(number),
                Err(_) => Err(Stop::OTHER),
            },
            Hint::Bool => visitor.visit_bool(true),
            Hint::Option => visitor.visit_some(self),
            Hint::Enum(_) => visitor.visit_enum(OneOf::new(self.with(Mode::Fill), key)),
            Hint::Identifier => {
                self.run.named_key.set(true);
                visitor.visit_str(key)
            }
            _ => visitor.visit_str(key),
        }
    }

    /// Returns a value of the right kind.
    fn filling(self, hint: Hint) -> Filling<'static> {
        let level = self.run.level;
        let odd = level % 2 == 1;
        match hint {
            Hint::Bool => Filling::Sample(Sample::Bool(odd)),
            Hint::Integer(..) => Filling::Sample(Sample::Unsigned(u64::from(odd))),
            Hint::Float => Filling::Sample(Sample::Float(f64::from(u8::from(odd)))),
            Hint::Text | Hint::Bytes | Hint::Identifier => {
                Filling::Sample(Sample::Text(if odd { "1" } else { "" }))
            }
            Hint::Char => Filling::Sample(Sample::Text("1")),
            Hint::List => Filling::Sample(Sample::Items(0)),
            Hint::Tuple(length) => Filling::Sample(Sample::Items(length)),
            Hint::Map => Filling::Sample(Sample::Keys(&[])),
            Hint::Struct(name, fields) => {
                let key = struct_key(name, fields);
                Filling::Struct(self.run.learned.borrow().get(&key).cloned().unwrap_or_default())
            }
            Hint::Enum(variants) => {
                self.run.variants.set(self.run.variants.get().max(variants.len()));
                let nth = level.checked_rem(variants.len()).unwrap_or_default();
                Filling::Sample(variants.get(nth).map_or(Sample::Null, |name| Sample::Variant(name)))
            }
            Hint::Any | Hint::Ignored | Hint::Unit | Hint::Option | Hint::UnitVariant => {
                Filling::Sample(Sample::Null)
            }
        }
    }

    fn offer<'de, V: Visitor<'de>>(
        self,
        sample: Filling<'_>,
        hint: Hint,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let inner = self.with(Mode::Fill);
        let keys;
        let sample = match sample {
            Filling::Sample(sample) => sample,
            Filling::Struct(fields) => {
                keys = fields;
                Sample::Keys(&keys)
            }
        };
        match sample {
            Sample::Null if hint == Hint::Option => visitor.visit_none(),
            _ if hint == Hint::Option => visitor.visit_some(inner),
            Sample::Null => visitor.visit_unit(),
            Sample::Bool(value) => visitor.visit_bool(value),
            Sample::Unsigned(value) => visitor.visit_u64(value),
            Sample::Signed(value) => visitor.visit_i64(value),
            Sample::Float(value) => visitor.visit_f64(value),
            Sample::Text(value) => visitor.visit_str(value),
            Sample::Items(count) => visitor.visit_seq(List::new(inner, count)),
            Sample::Keys(keys) => {
                let result = visitor.visit_map(Keys::new(inner, keys));
                match hint {
                    Hint::Struct(name, fields) => {
                        result.map_err(|stop| stop.within(struct_key(name, fields)))
                    }
                    _ => result,
                }
            }
            Sample::Variant(name) => visitor.visit_enum(OneOf::new(inner, name)),
            Sample::Tag(tag) => visitor.visit_map(Tagged::new(inner, tag, None)),
        }
    }
}

/// A sample that may own its keys.
enum Filling<'s> {
    Sample(Sample<'s>),
    Struct(Vec<&'static str>),
}

/// Returns `true` if the type's name is that of a map, whose values all have one type.
fn is_map<T>() -> bool {
    let name = std::any::type_name::<T>();
    name.split_once('<').is_some_and(|(name, _)| name.ends_with("Map"))
}

pub(super) fn struct_key(name: &'static str, fields: &'static [&'static str]) -> StructKey {
    (name, fields.as_ptr().addr())
}

macro_rules! integers {
    ($($method:ident: $least:expr, $greatest:expr;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
            self.node(Hint::Integer($least, $greatest), visitor)
        }
    )*};
}

macro_rules! hints {
    ($($method:ident($($argument:ident: $of:ty),*) => $hint:expr;)*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $of,)* visitor: V) -> Result<V::Value, Stop> {
            self.node($hint, visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Stop;

    integers! {
        deserialize_i8: Some(i8::MIN.into()), Some(i8::MAX as u64);
        deserialize_i16: Some(i16::MIN.into()), Some(i16::MAX as u64);
        deserialize_i32: Some(i32::MIN.into()), Some(i32::MAX as u64);
        deserialize_i64: None, None;
        deserialize_i128: None, None;
        deserialize_u8: Some(0), Some(u8::MAX.into());
        deserialize_u16: Some(0), Some(u16::MAX.into());
        deserialize_u32: Some(0), Some(u32::MAX.into());
        deserialize_u64: Some(0), None;
        deserialize_u128: Some(0), None;
    }

    hints! {
        deserialize_any() => Hint::Any;
        deserialize_bool() => Hint::Bool;
        deserialize_f32() => Hint::Float;
        deserialize_f64() => Hint::Float;
        deserialize_char() => Hint::Char;
        deserialize_str() => Hint::Text;
        deserialize_string() => Hint::Text;
        deserialize_bytes() => Hint::Bytes;
        deserialize_byte_buf() => Hint::Bytes;
        deserialize_option() => Hint::Option;
        deserialize_unit() => Hint::Unit;
        deserialize_unit_struct(_name: &'static str) => Hint::Unit;
        deserialize_seq() => Hint::List;
        deserialize_tuple(length: usize) => Hint::Tuple(length);
        deserialize_tuple_struct(_name: &'static str, length: usize) => Hint::Tuple(length);
        deserialize_map() => Hint::Map;
        deserialize_struct(name: &'static str, fields: &'static [&'static str]) => Hint::Struct(name, fields);
        deserialize_enum(_name: &'static str, variants: &'static [&'static str]) => Hint::Enum(variants);
        deserialize_identifier() => Hint::Identifier;
        deserialize_ignored_any() => Hint::Ignored;
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Stop> {
        if name.starts_with('$') {
            // A private name by which a type asks `serde_json` for something special, as `RawValue` does.
            return self.node(Hint::Ignored, visitor);
        }
        self.deeper()?;
        let result = visitor.visit_newtype_struct(self);
        self.run.depth.set(self.run.depth.get().saturating_sub(1));
        result
    }
}
