use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::shortened::shortened;

/// Arguments that a tool does not accept. The model reads the message.
#[derive(Debug, Error)]
#[error("invalid arguments for `{tool}` at `{path}`: {message}")]
pub(crate) struct BadArguments {
    tool: String,
    path: String,
    message: String,
}

/// A type of a tool's argument, or of all its arguments.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the type of a tool's argument",
    label = "does not implement `serde::Deserialize` and `schemars::JsonSchema`",
    note = "derive both for an argument; take a state or a context by reference, and a view with its lifetime: `{Self}<'_>`"
)]
pub trait Argument: Sized {
    /// Generated code reads this constant to require the trait.
    const FITS: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Argument for T {}

/// The maximum number of characters of an error about arguments. It quotes them, and they may be megabytes of nonsense.
pub(super) const MAX_ERROR_CHARS: usize = 300;

/// Reads a tool's arguments as a `T`.
///
/// # Errors
/// The arguments are not a valid `T`. The error names the path of the invalid one. It quotes only the beginning of a long value.
pub fn read_arguments<T: DeserializeOwned>(
    tool: &str,
    args: Map<String, Value>,
) -> Result<T, superstep::NodeError> {
    serde_path_to_error::deserialize(Value::Object(args)).map_err(|error| {
        let path = shortened(&error.path().to_string(), MAX_ERROR_CHARS).into_owned();
        let message = shortened(&error.into_inner().to_string(), MAX_ERROR_CHARS).into_owned();
        BadArguments { tool: tool.to_owned(), path, message }.into()
    })
}

/// Returns the JSON Schema of a type.
///
/// Subschemas are inlined, since models do not follow references. Only a recursive type contains references.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
        // Chat endpoints refuse an object schema without `properties`, even if the object is empty.
        if object.get("type").is_some_and(|kind| kind == "object") {
            object.entry("properties").or_insert_with(|| Map::new().into());
        }
    }
    schema
}
