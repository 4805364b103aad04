use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};

/// A record with the fields that `select` names, or all of them.
pub(super) struct Selected<T>(PhantomData<T>);

impl<T: JsonSchema> JsonSchema for Selected<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Selected{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        schema.remove("required");
        schema
    }
}
