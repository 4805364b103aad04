//! The JSON Schemas of the bodies and queries of requests. They are derived from the readers: a reader runs without a value, and
//! its outline notes the fields that it asks for. So a schema cannot differ from the code that reads.
//!
//! The descriptions are the documentation of the fields, which `schemars` derives.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::{Object, Place, Problems, Read};

/// The fields that a reader asks for.
#[derive(Default)]
pub(crate) struct Outline {
    fields: Vec<Asked>,
    /// Descriptions of fields that no documentation describes.
    descriptions: Vec<(String, &'static str)>,
}

struct Asked {
    name: String,
    schema: MakeSchema,
    presence: Presence,
}

type MakeSchema = Box<dyn FnOnce(&mut SchemaGenerator) -> Schema + Send + Sync>;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    /// The field may be absent or null.
    Optional,
    /// The field may be absent. Null is a value.
    Raw,
}

impl Outline {
    /// Notes a field. If it is asked for twice, the first time counts.
    pub(crate) fn ask(
        &mut self,
        name: &str,
        presence: Presence,
        schema: impl FnOnce(&mut SchemaGenerator) -> Schema + Send + Sync + 'static,
    ) {
        if !self.fields.iter().any(|field| field.name == name) {
            self.fields.push(Asked { name: name.to_owned(), schema: Box::new(schema), presence });
        }
    }

    /// Describes a field that has no documentation of its own.
    pub(crate) fn describe(&mut self, name: &str, text: &'static str) {
        self.descriptions.push((name.to_owned(), text));
    }

    /// Replaces the schema of a field whose type says less than its reader checks.
    pub(crate) fn refine(&mut self, name: &str, schema: Schema) {
        if let Some(field) = self.fields.iter_mut().find(|field| field.name == name) {
            field.schema = Box::new(|_| schema);
        }
    }

    /// Returns the schemas of the fields, and whether they are required.
    pub(crate) fn fields(
        self,
        documented: &Object,
        generator: &mut SchemaGenerator,
    ) -> Vec<(String, Schema, bool)> {
        let Self { fields, descriptions } = self;
        let field = |Asked { name, schema, presence }| {
            let mut schema = schema(generator);
            if presence == Presence::Optional {
                schema = nullable(schema);
            }
            let own = descriptions.iter().find(|(of, _)| *of == name).map(|(_, text)| json!(text));
            let text = own.or_else(|| documented.get(&name)?.get("description").cloned());
            if let Some(text) = text {
                schema.insert("description".to_owned(), text);
            }
            (name, schema, presence == Presence::Required)
        };
        fields.into_iter().map(field).collect()
    }
}

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

/// Returns a schema that also accepts null.
fn nullable(mut schema: Schema) -> Schema {
    match schema.get("type") {
        Some(Value::String(kind)) if schema.get("const").is_none() && schema.get("enum").is_none() => {
            let kinds = json!([kind, "null"]);
            schema.insert("type".to_owned(), kinds);
            schema
        }
        // Every value fits already.
        None if schema.as_object().is_none_or(Object::is_empty) => schema,
        _ => any_of([schema, json_schema!({ "type": "null" })]),
    }
}

/// Returns a schema for one of several forms.
pub(crate) fn any_of<const N: usize>(schemas: [Schema; N]) -> Schema {
    json_schema!({ "anyOf": schemas.map(Schema::to_value).as_slice() })
}
