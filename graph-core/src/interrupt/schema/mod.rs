//! The JSON Schema of an answer's type, and the check of an answer against it.
//!
//! The type implements serde's traits only. Its schema is therefore found by deserializing samples and observing its
//! requests and errors. Every part that cannot be determined in this way is left unconstrained.

mod access;
mod adjacent;
mod check;
mod explore;
mod hint;
mod probe;
mod required;
mod stop;
#[cfg(test)]
mod tests;

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::Value;

use explore::Explorer;

/// The schemas of the types that were explored.
static EXPLORED: LazyLock<Mutex<HashMap<TypeId, Option<Value>>>> = LazyLock::new(Mutex::default);

/// Returns the schema of a type, or `None` if every value may fit. Explores each type once.
pub(super) fn schema_of<A: DeserializeOwned + 'static>() -> Option<Value> {
    explore(TypeId::of::<A>(), explore::deserialize::<A>)
}

fn explore(id: TypeId, deserialize: explore::Deserialize) -> Option<Value> {
    let explored = || EXPLORED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(schema) = explored().get(&id) {
        return schema.clone();
    }
    // Without the lock: the code of the type may ask questions of its own.
    let schema = Some(Explorer::of(deserialize).schema()).filter(|schema| *schema != Value::Bool(true));
    explored().entry(id).or_insert(schema).clone()
}

/// Checks an answer against the schema of its type. The error has the path and the reason, and quotes no value.
pub(super) fn check(schema: &Value, answer: &Value) -> Result<(), String> {
    check::check(schema, answer).map_err(|misfit| format!("`{}`: {}", misfit.path, misfit.reason))
}
