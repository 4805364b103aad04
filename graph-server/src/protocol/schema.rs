//! The JSON Schemas of the bodies and queries of requests. They are derived from the readers: a reader runs without a
//! value, and its outline notes the fields that it asks for. So a schema cannot differ from the code that reads.
//!
//! The descriptions are the documentation of the fields, which `schemars` derives.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::{Object, Place, Problems, Read};

/// Returns the schema of the object that a reader reads, as a component with the name of its type.
pub(crate) fn component<T: Read + JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    named_component::<T>(&T::schema_name(), generator)
}

/// As [`component`], with a name of its own.
pub(crate) fn named_component<T: Read + JsonSchema>(name: &str, generator: &mut SchemaGenerator) -> Schema {
    if !generator.definitions().contains_key(name) {
        let schema = object::<T>(generator);
        generator.definitions_mut().insert(name.to_owned(), schema.to_value());
    }
    Schema::new_ref(format!("{}{name}", COMPONENTS))
}

/// The place of the components in the document.
const COMPONENTS: &str = "#/components/schemas/";

/// Returns the generator of the schemas of a document. Responses are as they are written.
pub(crate) fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    settings.into_generator()
}

/// Returns the schema of the object that a reader reads.
pub(crate) fn object<T: Read + JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let mut problems = Problems::outlining();
    let _nothing = T::read(Value::Object(Object::new()), &Place::Body, &mut problems);
    let (about, documented) = documentation::<T>();
    let (mut properties, mut required) = (Object::new(), Vec::new());
    for (name, schema, is_required) in problems.into_outline().fields(&documented, generator) {
        if is_required {
            required.push(name.clone());
        }
        properties.insert(name, schema.to_value());
    }
    let mut schema = json_schema!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    if let Some(about) = about {
        schema.insert("description".to_owned(), about);
    }
    schema
}

/// Returns the documentation of a type: its description, and its fields with theirs.
pub(crate) fn documentation<T: JsonSchema>() -> (Option<Value>, Object) {
    let schema = T::json_schema(&mut generator());
    let fields = schema.get("properties").and_then(Value::as_object).cloned();
    (schema.get("description").cloned(), fields.unwrap_or_default())
}
