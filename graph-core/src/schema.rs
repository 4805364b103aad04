//! JSON Schemas of a state, its input and its output. Needs the feature `schema`.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use crate::state::GraphState;

/// A state with JSON Schemas; derived with `#[state(schema)]`. The types of tracked fields must implement
/// `schemars::JsonSchema`. Doc comments become descriptions.
///
/// ```
/// use superstep::GraphState;
/// use superstep::schema::StateSchema;
///
/// #[derive(GraphState, Clone)]
/// #[state(schema)]
/// struct Ticket {
///     /// The customer's question.
///     #[state(input)]
///     question: String,
///     #[state(exclude)]
///     token: String,
/// }
///
/// let input = Ticket::input_schema();
/// assert_eq!(input["properties"]["question"]["description"], "The customer's question.");
/// assert_eq!(input["required"], serde_json::json!(["question"]));
/// assert!(Ticket::state_schema()["properties"].get("token").is_none());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON Schema",
    label = "write `#[state(schema)]` on this state"
)]
pub trait StateSchema: GraphState {
    #[doc(hidden)]
    fn __state(to: &mut Properties);

    #[doc(hidden)]
    fn __input(to: &mut Properties);

    #[doc(hidden)]
    fn __output(to: &mut Properties);

    /// Returns the schema of the output of [`dump`](GraphState::dump).
    fn state_schema() -> Value {
        Properties::describe(Self::NAME, SchemaSettings::default().for_serialize(), Self::__state)
    }

    /// Returns the schema of the JSON from which an input is read.
    fn input_schema() -> Value {
        let title = format!("{}Input", Self::NAME);
        let mut schema =
            Properties::describe(&title, SchemaSettings::default().for_deserialize(), Self::__input);
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        schema
    }

    /// Returns the schema of a serialized [`output`](GraphState::output).
    fn output_schema() -> Value {
        let title = format!("{}Output", Self::NAME);
        Properties::describe(&title, SchemaSettings::default().for_serialize(), Self::__output)
    }
}

/// A builder for the properties of an object.
#[derive(Debug)]
pub struct Properties {
    generator: SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl Properties {
    fn describe(title: &str, settings: SchemaSettings, fill: impl FnOnce(&mut Self)) -> Value {
        let generator = settings.into_generator();
        let mut all = Self { generator, properties: Map::new(), required: Vec::new() };
        fill(&mut all);
        let mut schema = Map::new();
        if let Some(dialect) = &all.generator.settings().meta_schema {
            schema.insert("$schema".to_owned(), dialect.as_ref().into());
        }
        schema.insert("title".to_owned(), title.into());
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), all.properties.into());
        if !all.required.is_empty() {
            schema.insert("required".to_owned(), all.required.into());
        }
        let definitions = all.generator.take_definitions(true);
        if !definitions.is_empty() {
            schema.insert("$defs".to_owned(), definitions.into());
        }
        schema.into()
    }

    /// Adds a property of the type `T`.
    #[doc(hidden)]
    pub fn __of<T: JsonSchema>(&mut self, name: &str, description: &str, required: bool) {
        let schema = self.generator.subschema_for::<T>();
        self.add(name, description, required, schema);
    }

    /// Adds a property that a user's function writes or reads, so its schema allows any value.
    #[doc(hidden)]
    pub fn __any(&mut self, name: &str, description: &str, required: bool) {
        self.add(name, description, required, Schema::default());
    }

    fn add(&mut self, name: &str, description: &str, required: bool, mut schema: Schema) {
        if !description.is_empty() {
            schema.insert("description".to_owned(), description.into());
        }
        self.properties.insert(name.to_owned(), schema.to_value());
        if required {
            self.required.push(name.into());
        }
    }
}
