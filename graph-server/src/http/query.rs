use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::api_error::{ApiError, ApiResult};
use crate::protocol::outline::Presence;
use crate::protocol::schema::documentation;
use crate::protocol::{Place, Problems, Read};

/// The options that a route reads from the query of a request. The documentation of the fields is that of the options.
pub(super) trait ReadQuery: Sized + JsonSchema {
    /// Reads the options. The query notes the problems.
    fn read(query: &mut Query) -> Self;
}

/// The options of a request, without problems.
pub(super) struct Options<Q>(pub(super) Q);

impl<Q: ReadQuery, S: Send + Sync> FromRequestParts<S> for Options<Q> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> ApiResult<Self> {
        let mut query = Query::of(parts.uri.query().unwrap_or_default());
        let options = Q::read(&mut query);
        query.check()?;
        Ok(Self(options))
    }
}

/// An option, for the document of the routes.
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) schema: Schema,
    pub(super) required: bool,
}

/// Returns the options that a route reads: a reader runs without a query, and notes them.
pub(super) fn parameters<Q: ReadQuery>(generator: &mut SchemaGenerator) -> Vec<Parameter> {
    let mut query = Query { pairs: Vec::new(), problems: Problems::outlining() };
    let _nothing = Q::read(&mut query);
    let (_, documented) = documentation::<Q>();
    let fields = query.problems.into_outline().fields(&documented, generator);
    fields.into_iter().map(|(name, schema, required)| Parameter { name, schema, required }).collect()
}

/// The query of a request.
///
/// Clients write lists as repeated keys, as a JSON array or with commas, booleans as words or digits, and an absent
/// option as an empty value. All are read.
#[derive(Debug)]
pub(super) struct Query {
    pairs: Vec<(String, String)>,
    problems: Problems,
}

impl Query {
    fn of(query: &str) -> Self {
        let pairs = form_urlencoded::parse(query.as_bytes()).into_owned();
        Self { pairs: pairs.filter(|(_, value)| !value.is_empty()).collect(), problems: Problems::default() }
    }

    /// Reads a string: the last value of a key.
    pub(super) fn text(&mut self, key: &str) -> Option<&str> {
        self.note(key, Presence::Raw, |_| json_schema!({ "type": "string" }));
        self.last(key)
    }

    /// Reads a string that must be given.
    pub(super) fn required(&mut self, key: &str) -> Option<String> {
        self.note(key, Presence::Required, |_| json_schema!({ "type": "string" }));
        let text = self.last(key).map(str::to_owned);
        if text.is_none() {
            self.refuse(key, "required");
        }
        text
    }

    /// Returns `true` if an option is given.
    pub(super) fn has(&self, key: &str) -> bool {
        self.last(key).is_some()
    }

    fn note(
        &mut self,
        key: &str,
        presence: Presence,
        schema: impl FnOnce(&mut SchemaGenerator) -> Schema + Send + Sync + 'static,
    ) {
        if let Some(outline) = self.problems.outline() {
            outline.ask(key, presence, schema);
        }
    }

    /// Says which values of an option are accepted, if its type does not. Only the schema has it.
    pub(super) fn refine(&mut self, key: &str, schema: impl FnOnce() -> Schema) {
        if let Some(outline) = self.problems.outline() {
            outline.refine(key, schema());
        }
    }

    fn last(&self, key: &str) -> Option<&str> {
        self.pairs.iter().rev().find(|(name, _)| name == key).map(|(_, value)| &**value)
    }

    /// Reads a boolean. The default is `false`.
    pub(super) fn flag(&mut self, key: &str) -> bool {
        self.note(key, Presence::Raw, |_| json_schema!({ "type": "boolean" }));
        let flag = match self.last(key) {
            None => Some(false),
            Some(text) => match &*text.to_ascii_lowercase() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
        };
        flag.unwrap_or_else(|| {
            self.refuse(key, "expected `true` or `false`");
            false
        })
    }

    /// Reads an integer within limits, or the default.
    pub(super) fn integer(
        &mut self,
        key: &str,
        range: std::ops::RangeInclusive<usize>,
        default: usize,
    ) -> usize {
        let (least, greatest) = range.clone().into_inner();
        self.note(key, Presence::Raw, move |_| {
            json_schema!({ "type": "integer", "minimum": least, "maximum": greatest, "default": default })
        });
        let Some(text) = self.last(key) else { return default };
        match text.parse().ok().filter(|number| range.contains(number)) {
            Some(number) => number,
            None => {
                self.refuse(key, format_args!("expected an integer from {least} to {greatest}"));
                default
            }
        }
    }

    /// Reads a value, such as a name out of a fixed list.
    pub(super) fn value<T: Read + 'static>(&mut self, key: &str) -> Option<T> {
        self.note(key, Presence::Raw, T::schema);
        let text = self.last(key)?.to_owned();
        T::read(Value::String(text), &Place::Field(&Place::Body, key), &mut self.problems)
    }

    /// Reads a list.
    pub(super) fn list<T: Read + 'static>(&mut self, key: &str) -> Vec<T> {
        self.note(key, Presence::Raw, Vec::<T>::schema);
        let texts = self.pairs.iter().filter(|(name, _)| name == key).map(|(_, value)| &**value);
        let items: Vec<Value> = texts.flat_map(items).collect();
        let place = Place::Field(&Place::Body, key);
        Vec::read(Value::Array(items), &place, &mut self.problems).unwrap_or_default()
    }

    pub(super) fn refuse(&mut self, key: &str, problem: impl std::fmt::Display) {
        self.problems.add(&Place::Field(&Place::Body, key), problem);
    }

    /// The problems, for a reader of a value that is not JSON.
    pub(super) fn problems(&mut self) -> &mut Problems {
        &mut self.problems
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// All problems.
    fn check(self) -> ApiResult<()> {
        self.problems.check(Some(())).map_err(|problems| ApiError::unprocessable(problems.to_string()))
    }
}

/// The items of one value: of a JSON array, or between commas.
fn items(text: &str) -> Vec<Value> {
    match serde_json::from_str(text) {
        Ok(Value::Array(items)) => items,
        _ => text.split(',').map(|item| Value::String(item.trim().to_owned())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{RunStatus, StreamMode};

    #[test]
    fn lists_have_three_notations() {
        for query in [
            "stream_mode=values&stream_mode=updates",
            "stream_mode=%5B%22values%22%2C%22updates%22%5D",
            "stream_mode=values,updates&stream_mode=",
        ] {
            assert_eq!(
                Query::of(query).list::<StreamMode>("stream_mode"),
                [StreamMode::Values, StreamMode::Updates]
            );
        }
        assert_eq!(Query::of("stream_mode=").list::<StreamMode>("stream_mode"), []);
    }

    #[test]
    fn booleans_have_four_notations() {
        for (query, expected) in
            [("w=1", true), ("w=True", true), ("w=0", false), ("w=false", false), ("w=", false)]
        {
            assert_eq!(Query::of(query).flag("w"), expected, "{query}");
        }
    }

    #[test]
    fn all_problems_are_reported() {
        let mut query = Query::of("limit=x&status=done&wait=maybe&select=values");
        query.integer("limit", 1..=10, 5);
        query.value::<RunStatus>("status");
        query.flag("wait");
        let text = query.check().unwrap_err().text();
        assert_eq!(
            text,
            "`limit`: expected an integer from 1 to 10; `status`: expected one of `pending`, `running`, `success`, \
             `error`, `timeout`, `interrupted`; `wait`: expected `true` or `false`"
        );
    }
}
