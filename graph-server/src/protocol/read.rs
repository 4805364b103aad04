use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::json::{Object, kind};
use super::outline::Presence;
use super::{Place, Problems};

/// A type that is read from the JSON of a request, reporting every problem.
///
/// Clients send `null` for an absent option, and newer clients send fields that this server does not know: both are
/// accepted.
pub(crate) trait Read: Sized {
    /// Reads the value. Adds a problem for each mistake, and returns `None` then.
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self>;

    /// Returns the JSON Schema of the values that are accepted. For an object that is read with [`Fields`], it is the
    /// [`component`](super::schema::component).
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

/// Reads a body.
///
/// # Errors
/// All problems of the body.
pub(crate) fn read_body<T: Read>(body: Value) -> Result<T, Problems> {
    let mut problems = Problems::default();
    let read = T::read(body, &Place::Body, &mut problems);
    problems.check(read)
}

/// The fields of an object that is being read.
pub(crate) struct Fields<'p> {
    object: Object,
    at: &'p Place<'p>,
    problems: &'p mut Problems,
}

impl<'p> Fields<'p> {
    /// Returns the fields of an object. Anything else is a problem.
    pub(crate) fn of(value: Value, at: &'p Place<'p>, problems: &'p mut Problems) -> Option<Self> {
        match value {
            Value::Object(object) => Some(Self { object, at, problems }),
            other => {
                problems.add(at, format_args!("expected an object, found {}", kind(&other)));
                None
            }
        }
    }

    /// Takes a field. Returns `None` if it is absent, null or not a `T`.
    pub(crate) fn optional<T: Read + 'static>(&mut self, name: &str) -> Option<T> {
        if let Some(outline) = self.problems.outline() {
            outline.ask(name, Presence::Optional, T::schema);
            return None;
        }
        let value = self.object.remove(name).filter(|value| !value.is_null())?;
        T::read(value, &Place::Field(self.at, name), self.problems)
    }

    /// Takes a field that must be present. Returns `None` after reporting a problem.
    pub(crate) fn required<T: Read + 'static>(&mut self, name: &str) -> Option<T> {
        if let Some(outline) = self.problems.outline() {
            outline.ask(name, Presence::Required, T::schema);
            return None;
        }
        match self.object.remove(name).filter(|value| !value.is_null()) {
            Some(value) => T::read(value, &Place::Field(self.at, name), self.problems),
            None => {
                self.problems.add(&Place::Field(self.at, name), "required");
                None
            }
        }
    }

    /// Takes an integer within limits, or the default if it is absent.
    pub(crate) fn integer(&mut self, name: &str, range: std::ops::RangeInclusive<u64>, default: u64) -> u64 {
        if let Some(outline) = self.problems.outline() {
            let mut schema = json_schema!({ "type": "integer", "minimum": range.start() });
            if *range.end() < u64::MAX {
                schema.insert("maximum".to_owned(), (*range.end()).into());
            }
            if range.contains(&default) {
                schema.insert("default".to_owned(), default.into());
            }
            outline.ask(name, Presence::Optional, |_| schema);
            return default;
        }
        let Some(value) = self.object.remove(name).filter(|value| !value.is_null()) else { return default };
        match value.as_u64().filter(|number| range.contains(number)) {
            Some(number) => number,
            None => {
                let (least, greatest) = range.into_inner();
                let found = if value.is_number() { value.to_string() } else { kind(&value).to_owned() };
                let expected = match greatest {
                    u64::MAX => format!("expected an integer of at least {least}, found {found}"),
                    _ => format!("expected an integer from {least} to {greatest}, found {found}"),
                };
                self.problems.add(&Place::Field(self.at, name), expected);
                default
            }
        }
    }

    /// Takes a field as it is, also if it is null.
    pub(crate) fn raw(&mut self, name: &str) -> Option<Value> {
        if let Some(outline) = self.problems.outline() {
            outline.ask(name, Presence::Raw, |_| Schema::default());
        }
        self.object.remove(name)
    }

    /// Describes a field that is not one of the type that is read. Only the schema has the description.
    pub(crate) fn describe(&mut self, name: &str, text: &'static str) {
        if let Some(outline) = self.problems.outline() {
            outline.describe(name, text);
        }
    }

    /// Says which values of a field are accepted, if its type does not. Only the schema has it.
    pub(crate) fn refine(&mut self, name: &str, schema: impl FnOnce() -> Schema) {
        if let Some(outline) = self.problems.outline() {
            outline.refine(name, schema());
        }
    }

    /// Adds a problem of a field.
    pub(crate) fn refuse(&mut self, name: &str, problem: impl std::fmt::Display) {
        self.problems.add(&Place::Field(self.at, name), problem);
    }
}

/// Reads a string out of a fixed list.
pub(crate) fn read_name<'v>(
    value: &'v Value,
    names: impl Iterator<Item = &'static str>,
    at: &Place<'_>,
    problems: &mut Problems,
) -> Option<&'v str> {
    let names: Vec<_> = names.collect();
    match value.as_str() {
        Some(name) if names.contains(&name) => return Some(name),
        _ => {}
    }
    let expected = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    problems.add(at, format_args!("expected one of {expected}"));
    None
}

fn expected<T>(what: &str, found: &Value, at: &Place<'_>, problems: &mut Problems) -> Option<T> {
    problems.add(at, format_args!("expected {what}, found {}", kind(found)));
    None
}

impl Read for Value {
    fn read(value: Value, _: &Place<'_>, _: &mut Problems) -> Option<Self> {
        Some(value)
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Self>()
    }
}

impl Read for Object {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        match value {
            Value::Object(object) => Some(object),
            other => expected("an object", &other, at, problems),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Self>()
    }
}

impl Read for String {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        match value {
            Value::String(text) => Some(text),
            other => expected("a string", &other, at, problems),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Self>()
    }
}

impl Read for bool {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        match value {
            Value::Bool(flag) => Some(flag),
            other => expected("a boolean", &other, at, problems),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Self>()
    }
}

impl Read for u64 {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        match value.as_u64() {
            Some(number) => Some(number),
            None => expected("a non-negative integer", &value, at, problems),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Self>()
    }
}

impl Read for f64 {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        match value.as_f64() {
            Some(number) => Some(number),
            None => expected("a number", &value, at, problems),
        }
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Self>()
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
        let Value::Array(items) = value else { return expected("an array", &value, at, problems) };
        let mut read = Some(Vec::with_capacity(items.len()));
        for (index, item) in items.into_iter().enumerate() {
            match (T::read(item, &Place::Item(at, index), problems), &mut read) {
                (Some(item), Some(read)) => read.push(item),
                (None, _) => read = None,
                (Some(_), None) => {}
            }
        }
        read
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": T::schema(generator) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// An example.
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only the documentation of the field is used")]
    struct Example {
        /// The name.
        name: String,
    }

    impl Read for Example {
        fn read(value: Value, at: &Place<'_>, problems: &mut Problems) -> Option<Self> {
            let mut fields = Fields::of(value, at, problems)?;
            let name = fields.required::<String>("name");
            fields.integer("limit", 1..=10, 5);
            fields.optional::<Vec<String>>("select");
            fields.optional::<Object>("metadata");
            name.map(|name| Self { name })
        }

        fn schema(generator: &mut SchemaGenerator) -> Schema {
            crate::protocol::schema::component::<Self>(generator)
        }
    }

    #[track_caller]
    fn check(body: Value, expected: &str) {
        let found = match read_body::<Example>(body) {
            Ok(Example { .. }) => String::new(),
            Err(problems) => problems.to_string(),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn all_problems_are_reported_with_their_places() {
        check(json!({ "name": "a", "limit": null, "unknown": 1 }), "");
        check(json!([]), "`body`: expected an object, found an array");
        check(
            json!({ "limit": 11, "select": ["a", 1, null], "metadata": "x" }),
            "`name`: required; `limit`: expected an integer from 1 to 10, found 11; `select[1]`: expected a string, \
             found a number; `select[2]`: expected a string, found null; `metadata`: expected an object, found a string",
        );
        check(
            json!({ "name": "a", "limit": "7" }),
            "`limit`: expected an integer from 1 to 10, found a string",
        );
    }

    #[test]
    fn a_schema_has_the_fields_that_the_reader_asks_for() {
        let mut generator = crate::protocol::schema::generator();
        let reference = Example::schema(&mut generator).to_value();
        assert_eq!(reference, json!({ "$ref": "#/components/schemas/Example" }));
        let expected = json!({
            "type": "object",
            "description": "An example.",
            "properties": {
                "name": { "type": "string", "description": "The name." },
                "limit": { "type": ["integer", "null"], "minimum": 1, "maximum": 10, "default": 5 },
                "select": { "type": ["array", "null"], "items": { "type": "string" } },
                "metadata": { "type": ["object", "null"], "additionalProperties": true },
            },
            "required": ["name"],
        });
        assert_eq!(generator.definitions()["Example"], expected);
    }

    #[test]
    fn long_lists_of_problems_are_cut() {
        let many: Vec<_> = (0..30).collect();
        let Err(problems) = read_body::<Vec<String>>(json!(many)) else { panic!("it has problems") };
        assert!(problems.to_string().ends_with("`body[19]`: expected a string, found a number; and 10 more"));
    }
}
