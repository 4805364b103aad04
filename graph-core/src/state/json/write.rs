//! Writes updates by field.

use std::fmt;

use serde::ser::{SerializeMap, SerializeSeq as _};
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
        serialize_objects(&objects, serializer)
    } else {
        objects.pop().unwrap_or_default().serialize(serializer)
    }
}

/// Serializes an update as an array of objects, whatever it writes. It is empty if there is nothing to show.
pub(crate) fn serialize_writes<S: GraphState, Ser: Serializer>(
    update: &S::Update,
    serializer: Ser,
) -> Result<Ser::Ok, Ser::Error> {
    serialize_objects(&objects::<S>(update), serializer)
}

// Not `collect_seq`, whose adapters would be compiled for each state.
fn serialize_objects<S: GraphState, Ser: Serializer>(
    objects: &[Object<'_, S>],
    serializer: Ser,
) -> Result<Ser::Ok, Ser::Error> {
    let mut list = serializer.serialize_seq(Some(objects.len()))?;
    for object in objects {
        list.serialize_element(object)?;
    }
    list.end()
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
    let mut places = Places(vec![0; S::FIELD_COUNT]);
    let writes = update.__writes();
    for nth in 0..writes.len() {
        let Some(write) = writes.get(nth).filter(|write| write.__is_dumped()) else { continue };
        let Some(place) = places.next(write.field()) else { continue };
        if objects.len() <= place {
            objects.push(Object::default());
        }
        if let Some(object) = objects.get_mut(place) {
            object.push(write);
        }
    }
    objects
}

/// The number of writes to each field so far.
struct Places(Vec<usize>);

impl Places {
    /// Returns the object for the next write to a field.
    fn next(&mut self, field: usize) -> Option<usize> {
        let place = self.0.get_mut(field)?;
        *place += 1;
        Some(*place - 1)
    }
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
        for write in &self.0 {
            write.__dump(map)?;
        }
        Ok(())
    }
}

impl<S: GraphState> Serialize for Fields<'_, S> {
    fn serialize<Ser: Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.dump(&mut map)?;
        map.end()
    }
}
