//! The contents of the containers that a probe offers.

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};

use super::hint::{Hint, Tag};
use super::stop::Stop;

/// A probe, as a container uses it for its parts.
pub(super) trait Offer: Copy {
    /// Returns the probe for a part that gets any fitting value.
    fn filling(self) -> Self;

    /// Returns the probe for a key.
    fn key(self, key: &'static str) -> Self;

    /// Notes how many items a list has taken.
    fn set_taken(self, items: usize);
}

/// The same, as the deserializer of the parts.
pub(super) trait Offers<'de>: Offer + Deserializer<'de, Error = Stop> {
    /// Offers a value to a part that has called this method of the deserializer.
    fn node<V: Visitor<'de>>(self, hint: Hint, visitor: V) -> Result<V::Value, Stop>;
}

/// A list of a given length.
pub(super) struct List<P> {
    probe: P,
    length: usize,
    taken: usize,
}

impl<P: Offer> List<P> {
    pub(super) fn new(probe: P, length: usize) -> Self {
        probe.set_taken(0);
        Self { probe, length, taken: 0 }
    }
}

impl<'de, P: Offers<'de>> SeqAccess<'de> for List<P> {
    type Error = Stop;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Stop> {
        if self.taken == self.length {
            return Ok(None);
        }
        self.taken += 1;
        let item = seed.deserialize(self.probe)?;
        // Set after the item, which may be a list itself.
        self.probe.set_taken(self.taken);
        Ok(Some(item))
    }
}

/// A list that leads to one of its items.
pub(super) struct OnlyItem<P> {
    probe: P,
    before: Option<usize>,
}

impl<P: Offer> OnlyItem<P> {
    pub(super) fn new(probe: P, index: usize) -> Self {
        Self { probe, before: Some(index) }
    }
}

impl<'de, P: Offers<'de>> SeqAccess<'de> for OnlyItem<P> {
    type Error = Stop;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Stop> {
        match self.before {
            None => Ok(None),
            Some(0) => {
                self.before = None;
                seed.deserialize(self.probe).map(Some)
            }
            Some(before) => {
                self.before = Some(before - 1);
                seed.deserialize(self.probe.filling()).map(Some)
            }
        }
    }
}

/// An object with given keys.
pub(super) struct Keys<'k, P> {
    probe: P,
    first: Option<&'static str>,
    rest: std::slice::Iter<'k, &'static str>,
}

impl<'k, P: Offer> Keys<'k, P> {
    pub(super) fn new(probe: P, keys: &'k [&'static str]) -> Self {
        Self { probe, first: None, rest: keys.iter() }
    }

    pub(super) fn one(probe: P, key: &'static str) -> Self {
        Self { probe, first: Some(key), rest: [].iter() }
    }
}

impl<'de, P: Offers<'de>> MapAccess<'de> for Keys<'_, P> {
    type Error = Stop;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Stop> {
        let Some(key) = self.first.take().or_else(|| self.rest.next().copied()) else { return Ok(None) };
        seed.deserialize(self.probe.key(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Stop> {
        seed.deserialize(self.probe)
    }
}

/// An object with the tag of an adjacently tagged enum, and the key of its content after it.
pub(super) struct Tagged<P> {
    probe: P,
    tag: Tag,
    given_tag: bool,
    content: Option<&'static str>,
}

impl<P: Offer> Tagged<P> {
    pub(super) fn new(probe: P, tag: Tag, content: Option<&'static str>) -> Self {
        Self { probe, tag, given_tag: false, content }
    }
}

impl<'de, P: Offers<'de>> MapAccess<'de> for Tagged<P> {
    type Error = Stop;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Stop> {
        let key = if self.given_tag { self.content.take() } else { Some(self.tag.key) };
        let Some(key) = key else { return Ok(None) };
        seed.deserialize(self.probe.key(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Stop> {
        if std::mem::replace(&mut self.given_tag, true) {
            return seed.deserialize(self.probe);
        }
        seed.deserialize(self.probe.key(self.tag.variant))
    }
}

/// A variant of an enum.
pub(super) struct OneOf<P> {
    probe: P,
    name: &'static str,
}

impl<P: Offer> OneOf<P> {
    pub(super) fn new(probe: P, name: &'static str) -> Self {
        Self { probe, name }
    }
}

impl<'de, P: Offers<'de>> EnumAccess<'de> for OneOf<P> {
    type Error = Stop;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Stop> {
        let variant = seed.deserialize(self.probe.key(self.name))?;
        Ok((variant, self))
    }
}

impl<'de, P: Offers<'de>> VariantAccess<'de> for OneOf<P> {
    type Error = Stop;

    fn unit_variant(self) -> Result<(), Stop> {
        self.probe.node(Hint::UnitVariant, serde::de::IgnoredAny).map(|_| ())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Stop> {
        seed.deserialize(self.probe)
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Stop> {
        self.probe.node(Hint::Tuple(length), visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        self.probe.node(Hint::Struct("", fields), visitor)
    }
}
