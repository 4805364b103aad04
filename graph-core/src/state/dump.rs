use std::fmt;

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::GraphState;

/// A view of a state that serializes by the rules on its fields; made by [`GraphState::dump`].
///
/// `Display` writes it as JSON, pretty with `{:#}`.
#[derive(Clone, Copy)]
pub struct Dump<'s, S>(pub(super) &'s S);

impl<S: GraphState> Dump<'_, S> {
    /// Converts the dump into a JSON value.
    ///
    /// # Errors
    /// A field's own serializer failed.
    pub fn to_json(&self) -> Result<serde_json::Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}

impl<S: GraphState> Serialize for Dump<'_, S> {
    fn serialize<Ser: Serializer>(&self, serializer: Ser) -> Result<Ser::Ok, Ser::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.0.__dump_fields(&mut map)?;
        map.end()
    }
}

impl<S: GraphState> fmt::Display for Dump<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text =
            if f.alternate() { serde_json::to_string_pretty(self) } else { serde_json::to_string(self) };
        // An error here would make `format!` panic.
        match text {
            Ok(text) => f.write_str(&text),
            Err(error) => write!(f, "(`{}` cannot be dumped: {error})", S::NAME),
        }
    }
}

impl<S: GraphState> fmt::Debug for Dump<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
