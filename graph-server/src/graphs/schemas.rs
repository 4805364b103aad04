use serde_json::{Map, Value, json};
use superstep::GraphState;
use superstep::schema::StateSchema;

/// The JSON Schemas of a graph.
#[derive(Clone, Debug)]
pub(crate) struct Schemas {
    pub(crate) input: Value,
    pub(crate) output: Value,
    pub(crate) state: Value,
}

impl Schemas {
    /// Returns `true` if the input has a field of this name.
    pub(crate) fn input_has(&self, field: &str) -> bool {
        self.input.get("properties").and_then(|fields| fields.get(field)).is_some()
    }

    /// Returns the fields of a state that belong to the output.
    pub(crate) fn output_of(&self, mut values: Map<String, Value>) -> Map<String, Value> {
        if let Some(fields) = self.output.get("properties").and_then(Value::as_object) {
            values.retain(|name, _| fields.contains_key(name));
        }
        values
    }

    /// The schemas of a state that derives them.
    pub(crate) fn derived<S: StateSchema>() -> Self {
        Self { input: S::input_schema(), output: S::output_schema(), state: S::state_schema() }
    }

    /// The schemas of a state without `#[state(schema)]`: they name the fields, but not their types.
    pub(crate) fn of_names<S: GraphState>() -> Self {
        let fields = || (0..S::FIELD_COUNT).filter_map(S::field);
        let shown: Vec<&str> =
            fields().filter(|field| !field.excluded && !field.untracked).map(|field| field.name).collect();
        let schema = |title: String, names: &[&str]| {
            let properties: Map<String, Value> =
                names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
            json!({ "title": title, "type": "object", "properties": properties })
        };
        Self {
            input: schema(format!("{}Input", S::NAME), &shown),
            output: schema(format!("{}Output", S::NAME), &shown),
            state: schema(S::NAME.to_owned(), &shown),
        }
    }
}
