//! Support for the generated enum of a machine's nodes: reading, debug output, and a trait bound.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{EnumAccess, Error as _, Visitor};
use serde::{Deserializer, Serialize};

use crate::erased::Payload;

use super::AnyNode;

/// A type that can be a node of a machine.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a node of a machine",
    label = "a checkpoint cannot hold it",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it; it also has to be `Send`, `Sync` and `'static`"
)]
pub trait NodeData {
    /// Naming this constant requires the trait.
    const FITS: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: Payload> NodeData for T {}

/// Reads any node, in the form of an object with its name and data.
///
/// # Errors
/// The machine has no node with this name, or the data does not fit it.
pub fn read_node<'de, A: AnyNode, D: Deserializer<'de>>(deserializer: D) -> Result<A, D::Error> {
    struct Named<A>(PhantomData<A>);

    impl<'de, A: AnyNode> Visitor<'de> for Named<A> {
        type Value = A;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a node, one of {}", A::__NAMES.join(", "))
        }

        fn visit_enum<E: EnumAccess<'de>>(self, data: E) -> Result<A, E::Error> {
            let (name, variant) = data.variant::<String>()?;
            match A::__NAMES.iter().position(|known| *known == name) {
                Some(place) => A::__read(place, variant),
                None => Err(E::Error::unknown_variant(&name, A::__NAMES)),
            }
        }
    }

    deserializer.deserialize_enum("Node", A::__NAMES, Named(PhantomData))
}

/// Formats a node as `Increment({"foo":4})`, so that nodes need no `Debug`.
///
/// # Errors
/// The errors of the formatter.
pub fn debug_node<T: Serialize>(name: &str, node: &T, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match serde_json::to_value(node) {
        Ok(serde_json::Value::Null) => f.write_str(name),
        Ok(data) => write!(f, "{name}({data})"),
        Err(_) => write!(f, "{name}(..)"),
    }
}
