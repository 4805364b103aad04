//! The fields that a reader asks for, from which the schema of a request is made.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::json::Object;

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
