//! Writes updates by field.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::super::{FieldWrite, GraphState, Update, WriteKind};
use super::OVERWRITE;

type WriteOf<S> = <<S as GraphState>::Update as Update<S>>::Write;

/// Serializes an update: an object by field, with overwrites under `$overwrite`. A field that is written twice needs two
/// objects, so the result is then an array. Excluded and untracked fields are left out.
pub fn serialize_update<S: GraphState, Ser: Serializer>(
    update: &S::Update,
    serializer: Ser,
) -> Result<Ser::Ok, Ser::Error> {
    let mut objects = objects::<S>(update);
    if objects.len() > 1 {
        serializer.collect_seq(&objects)
    } else {
        objects.pop().unwrap_or_default().serialize(serializer)
    }
}

/// Serializes an update as an array of objects, whatever it writes. It is empty if there is nothing to show.
pub(crate) fn serialize_writes<S: GraphState, Ser: Serializer>(
    update: &S::Update,
    serializer: Ser,
) -> Result<Ser::Ok, Ser::Error> {
    serializer.collect_seq(&objects::<S>(update))
}

/// Prints an update's fields in the order of the writes. Excluded and untracked fields are printed without their value.
pub fn debug_update<S: GraphState>(
    name: &str,
    update: &S::Update,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let mut out = f.debug_struct(name);
    for write in update.__writes().iter() {
        let field = S::field(write.field()).map_or("?", |spec| spec.name);
        let value = value_of::<S>(write).map_or_else(|| "..".to_owned(), |value| value.to_string());
        match write.kind() {
            WriteKind::Overwrite => out.field(field, &format_args!("Overwrite({value})")),
            WriteKind::Exclusive | WriteKind::Folded => out.field(field, &format_args!("{value}")),
        };
    }
    out.finish()
}

fn value_of<S: GraphState>(write: &WriteOf<S>) -> Option<Value> {
    if !write.__is_dumped() {
        return None;
    }
    match serde_json::to_value(Fields::<S>(vec![write])) {
        Ok(Value::Object(fields)) => fields.into_iter().next().map(|(_, value)| value),
        _ => None,
    }
}

/// Groups the writes into objects: the kth object contains the kth write of each field. Fields do not depend on each
/// other, so only the order of the writes to one field has to stay.
fn objects<S: GraphState>(update: &S::Update) -> Vec<Object<'_, S>> {
    let mut objects: Vec<Object<'_, S>> = Vec::new();
    let mut seen = vec![0_usize; S::FIELD_COUNT];
    for write in update.__writes().iter().filter(|write| write.__is_dumped()) {
        let Some(nth) = seen.get_mut(write.field()) else { continue };
        match objects.get_mut(*nth) {
            Some(object) => object.push(write),
            None => {
                let mut object = Object::default();
                object.push(write);
                objects.push(object);
            }
        }
        *nth += 1;
    }
    objects
}

/// Writes to different fields.
struct Object<'w, S: GraphState> {
    written: Fields<'w, S>,
    overwritten: Fields<'w, S>,
}

impl<'w, S: GraphState> Object<'w, S> {
    fn push(&mut self, write: &'w WriteOf<S>) {
        match write.kind() {
            WriteKind::Overwrite => self.overwritten.0.push(write),
            WriteKind::Exclusive | WriteKind::Folded => self.written.0.push(write),
        }
    }
}

impl<S: GraphState> Default for Object<'_, S> {
    fn default() -> Self {
        Self { written: Fields(Vec::new()), overwritten: Fields(Vec::new()) }
    }
}

impl<S: GraphState> Serialize for Object<'_, S> {
    fn serialize<Ser: Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.written.dump(&mut map)?;
        if !self.overwritten.0.is_empty() {
            map.serialize_entry(OVERWRITE, &self.overwritten)?;
        }
        map.end()
    }
}

struct Fields<'w, S: GraphState>(Vec<&'w WriteOf<S>>);

impl<S: GraphState> Fields<'_, S> {
    fn dump<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.0.iter().try_for_each(|write| write.__dump(map))
    }
}

impl<S: GraphState> Serialize for Fields<'_, S> {
    fn serialize<Ser: Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.dump(&mut map)?;
        map.end()
    }
}
