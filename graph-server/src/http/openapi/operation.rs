use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::super::query::{ReadQuery, parameters};
use super::super::route_table::{Access, Route};
use crate::protocol::{CronId, Read, RunId, ThreadId};

/// A route that is being described.
pub(super) struct Operation<'g> {
    pub(super) generator: &'g mut SchemaGenerator,
    route: &'g Route,
    about: Option<&'static str>,
    parameters: Vec<Value>,
    body: Option<Value>,
    responses: Map<String, Value>,
    /// The status to which headers are added.
    latest: String,
}

/// An error as every route writes it.
#[derive(JsonSchema)]
#[schemars(rename = "Error")]
struct ErrorBody {
    /// The reason, and the solution if there is one. All problems of a body, with their paths.
    #[expect(dead_code, reason = "only its schema is used")]
    detail: String,
}

impl<'g> Operation<'g> {
    /// Begins with the parts that the path and the access of the route decide.
    pub(super) fn of(route: &'g Route, generator: &'g mut SchemaGenerator) -> Self {
        let (parameters, responses, latest) = (Vec::new(), Map::new(), String::new());
        let mut operation = Self { generator, route, about: None, parameters, body: None, responses, latest };
        for name in route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            operation.path_parameter(name);
        }
        if route.access != Access::Public {
            operation.error(401, "The key is missing or wrong, or the caller is not recognized.");
            operation.error(403, "The caller may not do this.");
            operation.error(429, "The caller sends too many requests, or has too many open streams.");
            operation.header("Retry-After", "The seconds after which the request may be sent again.");
        }
        operation
    }

    fn path_parameter(&mut self, name: &str) {
        let (schema, about) = match name {
            "thread" => (ThreadId::schema(self.generator), "The id of a thread."),
            "run" => (RunId::schema(self.generator), "The id of a run."),
            "cron" => (CronId::schema(self.generator), "The id of a cron."),
            "assistant" => {
                (string(), "The id of an assistant, or the name of a graph for its default assistant.")
            }
            "checkpoint" => (string(), "The id of a checkpoint."),
            _ => (string(), "The names of the nodes that lead to the subgraph, with `|` between them."),
        };
        self.parameters.push(
            json!({ "name": name, "in": "path", "required": true, "description": about, "schema": schema }),
        );
        self.error(404, "It does not exist, or the caller does not see it.");
        self.error(422, "The request has problems.");
    }

    /// Says more than the summary.
    pub(super) fn about(&mut self, text: &'static str) -> &mut Self {
        self.about = Some(text);
        self
    }

    /// The options in the query.
    pub(super) fn query<Q: ReadQuery>(&mut self) -> &mut Self {
        for parameter in parameters::<Q>(self.generator) {
            let mut schema = parameter.schema;
            let description = schema.remove("description");
            self.parameters.push(json!({
                "name": parameter.name,
                "in": "query",
                "required": parameter.required,
                "description": description,
                "schema": schema,
            }));
        }
        self.error(422, "The request has problems.")
    }

    /// A header of the request.
    pub(super) fn request_header(&mut self, name: &str, about: &str) -> &mut Self {
        self.parameters.push(json!({
            "name": name, "in": "header", "required": false, "description": about, "schema": { "type": "string" },
        }));
        self
    }

    /// The body of the request. An empty body is an empty object.
    pub(super) fn body<T: Read>(&mut self) -> &mut Self {
        let schema = T::schema(self.generator);
        self.json_body(&schema)
    }

    pub(super) fn json_body(&mut self, schema: &Schema) -> &mut Self {
        self.body =
            Some(json!({ "required": true, "content": { "application/json": { "schema": schema } } }));
        self.error(413, "The body is larger than the limit of the server.");
        self.error(422, "The request has problems.")
    }

    /// A response with JSON.
    pub(super) fn json_response<T: JsonSchema + ?Sized>(&mut self, status: u16, about: &str) -> &mut Self {
        let schema = self.generator.subschema_for::<T>();
        self.response(status, about, Some(("application/json", schema)))
    }

    /// The response with JSON of a request that succeeds.
    pub(super) fn ok<T: JsonSchema + ?Sized>(&mut self, about: &str) -> &mut Self {
        self.json_response::<T>(200, about)
    }

    /// A response without a body.
    pub(super) fn empty(&mut self, status: u16, about: &str) -> &mut Self {
        self.response(status, about, None)
    }

    /// A response that is text.
    pub(super) fn text(&mut self, media_type: &str, about: &str) -> &mut Self {
        self.response(200, about, Some((media_type, string())))
    }

    /// A stream of server-sent events. The schema describes one event: its fields `event`, `data` and `id`.
    pub(super) fn events(&mut self, about: &str, event: &Schema) -> &mut Self {
        let stream = json_schema!({
            "type": "string",
            "contentMediaType": "text/event-stream",
            "contentSchema": { "type": "array", "items": event },
        });
        self.response(200, about, Some(("text/event-stream", stream)))
    }

    /// An error. The first description of a status counts.
    pub(super) fn error(&mut self, status: u16, about: &str) -> &mut Self {
        if !self.responses.contains_key(&status.to_string()) {
            self.json_response::<ErrorBody>(status, about);
        }
        self.latest = status.to_string();
        self
    }

    /// An error that is text, because it is refused before the route is called.
    pub(super) fn text_error(&mut self, status: u16, about: &str) -> &mut Self {
        self.response(status, about, Some(("text/plain", string())))
    }

    fn response(&mut self, status: u16, about: &str, content: Option<(&str, Schema)>) -> &mut Self {
        self.latest = status.to_string();
        let response =
            self.responses.entry(self.latest.clone()).or_insert_with(|| json!({ "description": about }));
        if let (Some((media_type, schema)), Some(response)) = (content, response.as_object_mut()) {
            let contents = response.entry("content").or_insert_with(|| json!({}));
            if let Some(contents) = contents.as_object_mut() {
                contents.insert(media_type.to_owned(), json!({ "schema": schema }));
            }
        }
        self
    }

    /// A header of the latest response.
    pub(super) fn header(&mut self, name: &str, about: &str) -> &mut Self {
        let response = self.responses.get_mut(&self.latest).and_then(Value::as_object_mut);
        let headers = response.map(|response| response.entry("headers").or_insert_with(|| json!({})));
        if let Some(headers) = headers.and_then(Value::as_object_mut) {
            headers.insert(name.to_owned(), json!({ "description": about, "schema": { "type": "string" } }));
        }
        self
    }

    /// Returns the operation.
    pub(super) fn json(self, id: Option<&str>, tag: &str) -> Value {
        let Self { route, about, parameters, body, mut responses, .. } = self;
        let security = match route.access {
            Access::Public => json!([]),
            Access::Caller | Access::Thread | Access::Operator => json!([{}, { "key": [] }, { "token": [] }]),
        };
        if route.access != Access::Public {
            responses
                .insert("5XX".to_owned(), json!({ "description": "The server or its store has failed." }));
        }
        let mut operation = json!({
            "operationId": id,
            "summary": route.about,
            "tags": [tag],
            "parameters": parameters,
            "security": security,
            "responses": responses,
        });
        if let Some(operation) = operation.as_object_mut() {
            operation.extend(about.map(|about| ("description".to_owned(), about.into())));
            operation.extend(body.map(|body| ("requestBody".to_owned(), body)));
        }
        operation
    }
}

fn string() -> Schema {
    json_schema!({ "type": "string" })
}
