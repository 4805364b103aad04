//! `/openapi.json` against the routes that it describes.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::described::document;
use crate::described::schema::check;
use crate::example::example;
use crate::support::{Client, Reply};

/// An operation, with its method and path.
fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths.flat_map(|(path, methods)| {
        methods.as_object().unwrap().iter().map(move |(method, operation)| (method, path, operation))
    })
}

fn schemas(document: &Value) -> impl Iterator<Item = (&String, &Value)> {
    document["components"]["schemas"].as_object().unwrap().iter()
}

#[tokio::test]
async fn every_operation_is_described() {
    let client = Client::new().await;
    let document = document(&client.0).await;
    let mut ids = std::collections::BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path}"));
        assert!(ids.insert(id), "{id}");
        assert!(operation["tags"][0].is_string() && operation["summary"].is_string(), "{id}");
        let responses = operation["responses"].as_object().unwrap();
        let succeeds = responses.keys().any(|status| status.as_str() < "400");
        assert!(succeeds || path == "/mcp", "{id} cannot succeed");
        for parameter in operation["parameters"].as_array().unwrap() {
            assert!(parameter["description"].is_string(), "{id}: {parameter}");
            assert!(parameter["schema"].is_object(), "{id}: {parameter}");
        }
        for name in path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')) {
            let parameters = operation["parameters"].as_array().unwrap();
            assert!(parameters.iter().any(|parameter| parameter["name"] == name), "{id}: {name}");
        }
    }
    assert!(schemas(&document).count() > 50);
}

#[tokio::test]
async fn every_field_of_a_body_is_described() {
    let client = Client::new().await;
    let document = document(&client.0).await;
    let mut count = 0;
    for (method, path, operation) in operations(&document) {
        let Some(schema) = body_schema(&document, operation) else { continue };
        for (name, field) in schema["properties"].as_object().unwrap() {
            let has_text = field["description"].as_str().is_some_and(|text| !text.is_empty());
            assert!(has_text || name == "jsonrpc", "{method} {path}: {name}");
            count += 1;
        }
    }
    assert!(count > 150, "{count}");
}

/// Returns the schema of the body of an operation, or of an item of it.
fn body_schema<'d>(document: &'d Value, operation: &'d Value) -> Option<&'d Value> {
    let mut schema = operation.pointer("/requestBody/content/application~1json/schema")?;
    if schema["type"] == "array" {
        schema = &schema["items"];
    }
    match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')),
        None => Some(schema),
    }
}

/// Returns a path with a thread and a graph that exist.
async fn existing(client: &Client, path: &str) -> String {
    let thread = client.order("tea", json!({})).await;
    let path = path.replace("{thread}", &thread).replace("{assistant}", "orders");
    let unknown = "01890a5d-ac96-774b-bcce-b302099a8057";
    path.replace("{cron}", unknown).replace("{run}", unknown)
}

async fn send(client: &Client, method: &str, path: &str, body: &Value) -> Reply {
    let request = Request::builder().method(method.to_uppercase().as_str()).uri(path);
    client.send(request.body(Body::from(body.to_string())).unwrap()).await
}

/// The types of JSON.
fn samples() -> [Value; 6] {
    [json!(null), json!(true), json!(-1.5), json!("?"), json!([[1]]), json!({ "?": 1 })]
}

/// The schema of a field says which types its reader takes: each type that does not fit is refused with the path of the field,
/// and the others are not.
#[tokio::test]
async fn schemas_of_bodies_agree_with_their_readers() {
    let client = Client::new().await;
    let document = document(&client.0).await;
    let mut refused = 0;
    for (method, path, operation) in operations(&document) {
        let Some(schema) = body_schema(&document, operation) else { continue };
        let is_list =
            operation.pointer("/requestBody/content/application~1json/schema/type") == Some(&json!("array"));
        // The errors of calls have forms of their own.
        if path == "/mcp" || path.ends_with("/commands") || path.starts_with("/a2a") {
            continue;
        }
        let path = &existing(&client, path).await;
        let first = example(&document, schema);
        for (name, field) in schema["properties"].as_object().unwrap() {
            for sample in samples() {
                let mut body = first.clone();
                body[name] = sample.clone();
                let fits = check(&document, field, &sample).is_ok();
                let body = if is_list { json!([body]) } else { body };
                let reply = send(&client, method, path, &body).await;
                let place = if is_list { format!("`body[0].{name}") } else { format!("`{name}") };
                let context = format!("{method} {path}: {name} = {sample}: {} {}", reply.status, reply.body);
                let names_it = reply.status == 422 && reply.body.contains(&place);
                if fits {
                    // A value of the right type may still be refused, but not for its type.
                    assert!(
                        !(names_it && reply.body.contains(&format!("{place}`: expected a"))),
                        "{context}"
                    );
                } else {
                    assert!(names_it, "{context}");
                    refused += 1;
                }
            }
        }
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let mut body = first.clone();
            body.as_object_mut().unwrap().remove(name);
            let body = if is_list { json!([body]) } else { body };
            let reply = send(&client, method, path, &body).await;
            assert!(reply.error(422).contains(name), "{method} {path}: {name}: {}", reply.body);
        }
    }
    assert!(refused > 500, "{refused}");
}

#[tokio::test]
async fn parameters_agree_with_their_readers() {
    let client = Client::new().await;
    let document = document(&client.0).await;
    let mut refused = 0;
    for (method, path, operation) in operations(&document) {
        for parameter in operation["parameters"].as_array().unwrap().iter().filter(|of| of["in"] == "query") {
            let schema = &parameter["schema"];
            let texts = schema["type"] == "string" || schema["items"]["type"] == "string";
            if texts {
                continue;
            }
            let name = parameter["name"].as_str().unwrap();
            let path = existing(&client, path).await;
            let reply = send(&client, method, &format!("{path}?{name}=%3F"), &json!({})).await;
            assert!(reply.error(422).contains(name), "{method} {path} {name}: {}", reply.body);
            refused += 1;
        }
    }
    assert!(refused > 15, "{refused}");
}
