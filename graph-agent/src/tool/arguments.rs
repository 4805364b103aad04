use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use thiserror::Error;

/// Arguments that are not what a tool takes. The text is for the model.
#[derive(Debug, Error)]
#[error("the arguments of `{tool}` do not fit, at `{path}`: {message}")]
pub(crate) struct BadArguments {
    tool: String,
    path: String,
    message: String,
}

/// A type that a model can give an argument of, or all arguments.
#[diagnostic::on_unimplemented(
    message = "a model cannot give a tool the argument `{Self}`",
    label = "`{Self}` is not `serde::Deserialize + schemars::JsonSchema`",
    note = "derive both for it; what a tool gets of the run it takes by reference, and a view with its lifetime: `{Self}<'_>`"
)]
pub trait Argument: Sized {
    /// Asking for it asks for the trait.
    const FITS: () = ();
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> Argument for T {}

/// Reads a tool's arguments; the error says where they do not fit.
///
/// # Errors
/// They do not fit `T`.
pub fn read_arguments<T: DeserializeOwned>(
    tool: &str,
    args: Map<String, Value>,
) -> Result<T, superstep::NodeError> {
    serde_path_to_error::deserialize(Value::Object(args)).map_err(|error| {
        let path = error.path().to_string();
        BadArguments { tool: tool.to_owned(), path, message: error.into_inner().to_string() }.into()
    })
}

/// The JSON Schema of a type, in one piece, since models do not follow references; but for a type that holds itself, which
/// takes one.
pub fn schema_of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
        // Chat endpoints refuse an object of which it is not said what is in it, also where nothing is.
        if object.get("type").is_some_and(|kind| kind == "object") {
            object.entry("properties").or_insert_with(|| Map::new().into());
        }
    }
    schema
}
