//! The contents of the containers that a [`Probe`] offers.

use serde::de::{DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};

use super::probe::{Hint, Mode, Probe, Tag};
use super::stop::Stop;

/// A list of a given length.
pub(super) struct List<'r> {
    probe: Probe<'r>,
    length: usize,
    taken: usize,
}

impl<'r> List<'r> {
    pub(super) fn new(probe: Probe<'r>, length: usize) -> Self {
        probe.run.taken.set(0);
        Self { probe, length, taken: 0 }
    }
}

impl<'de> SeqAccess<'de> for List<'_> {
    type Error = Stop;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Stop> {
        if self.taken == self.length {
            return Ok(None);
        }
        self.taken += 1;
        let item = seed.deserialize(self.probe)?;
        // Set after the item, which may be a list itself.
        self.probe.run.taken.set(self.taken);
        Ok(Some(item))
    }
}

/// A list that leads to one of its items.
pub(super) struct OnlyItem<'r> {
    probe: Probe<'r>,
    before: Option<usize>,
}

impl<'r> OnlyItem<'r> {
    pub(super) fn new(probe: Probe<'r>, index: usize) -> Self {
        Self { probe, before: Some(index) }
    }
}

impl<'de> SeqAccess<'de> for OnlyItem<'_> {
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
                seed.deserialize(Probe { mode: Mode::Fill, ..self.probe }).map(Some)
            }
        }
    }
}

/// An object with given keys.
pub(super) struct Keys<'r, 'k> {
    probe: Probe<'r>,
    first: Option<&'static str>,
    rest: std::slice::Iter<'k, &'static str>,
}

impl<'r, 'k> Keys<'r, 'k> {
    pub(super) fn new(probe: Probe<'r>, keys: &'k [&'static str]) -> Self {
        Self { probe, first: None, rest: keys.iter() }
    }

    pub(super) fn one(probe: Probe<'r>, key: &'static str) -> Self {
        Self { probe, first: Some(key), rest: [].iter() }
    }
}

impl<'de> MapAccess<'de> for Keys<'_, '_> {
    type Error = Stop;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Stop> {
        let Some(key) = self.first.take().or_else(|| self.rest.next().copied()) else { return Ok(None) };
        seed.deserialize(Probe { mode: Mode::Key(key), ..self.probe }).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Stop> {
        seed.deserialize(self.probe)
    }
}

/// An object with the tag of an adjacently tagged enum, and the key of its content after it.
pub(super) struct Tagged<'r> {
    probe: Probe<'r>,
    tag: Tag,
    given_tag: bool,
    content: Option<&'static str>,
}

impl<'r> Tagged<'r> {
    pub(super) fn new(probe: Probe<'r>, tag: Tag, content: Option<&'static str>) -> Self {
        Self { probe, tag, given_tag: false, content }
    }
}

impl<'de> MapAccess<'de> for Tagged<'_> {
    type Error = Stop;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Stop> {
        let key = if self.given_tag { self.content.take() } else { Some(self.tag.key) };
        let Some(key) = key else { return Ok(None) };
        seed.deserialize(Probe { mode: Mode::Key(key), ..self.probe }).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Stop> {
        if std::mem::replace(&mut self.given_tag, true) {
            return seed.deserialize(self.probe);
        }
        seed.deserialize(Probe { mode: Mode::Key(self.tag.variant), ..self.probe })
    }
}

/// A variant of an enum.
pub(super) struct OneOf<'r> {
    probe: Probe<'r>,
    name: &'static str,
}

impl<'r> OneOf<'r> {
    pub(super) fn new(probe: Probe<'r>, name: &'static str) -> Self {
        Self { probe, name }
    }
}

impl<'de> EnumAccess<'de> for OneOf<'_> {
    type Error = Stop;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Stop> {
        let variant = seed.deserialize(Probe { mode: Mode::Key(self.name), ..self.probe })?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for OneOf<'_> {
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
