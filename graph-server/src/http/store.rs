//! `/store`: the long-term store of the graphs. The records of the server are in the same store, and are not shown.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{post, put};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use superstep::store::{FieldPath, Item, Namespace, Test};

use crate::api_error::{ApiError, ApiResult};
use crate::app::{App, Shared};
use crate::protocol::{
    Indexed, ItemDelete, ItemNamespace, ItemPut, ItemSearch, NamespaceSearch, Object, Place, Timestamp,
};
use crate::records::RESERVED;

use super::body::Body;
use super::query::{Options, Query, ReadQuery};
use super::reply;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/store/items", put(put_item).get(get_item).delete(delete_item))
        .route("/store/items/search", post(search))
        .route("/store/namespaces", post(namespaces))
}

async fn put_item(Shared(app): Shared, Body(body): Body<ItemPut>) -> ApiResult<Response> {
    let ItemPut { namespace, key, value, index, ttl } = body;
    check(&app, &namespace)?;
    let mut item = app.store.of::<Value>(namespace.0).put(key, &Value::Object(value));
    if let Some(ttl) = ttl {
        item = item.ttl(ttl);
    }
    match index {
        Indexed::Default => {}
        Indexed::No => item = item.not_indexed(),
        Indexed::Fields(fields) => item = item.indexed_by(fields.iter().map(|field| path(field))),
    }
    item.await?;
    Ok(reply::no_content())
}

/// The place of an item.
#[derive(JsonSchema)]
pub(super) struct ItemQuery {
    /// The namespace, with dots between its strings.
    #[schemars(with = "String")]
    namespace: ItemNamespace,
    /// The key.
    key: String,
    /// `true` to restart the time to live of the item.
    refresh_ttl: Option<bool>,
}

impl ReadQuery for ItemQuery {
    fn read(query: &mut Query) -> Self {
        let text = query.text("namespace").unwrap_or_default().to_owned();
        let at = Place::Field(&Place::Body, "namespace");
        let namespace = ItemNamespace::of_query(&text, &at, query.problems()).unwrap_or_default();
        let key = query.required("key").unwrap_or_default();
        let given = query.has("refresh_ttl");
        let refresh = query.flag("refresh_ttl");
        Self { namespace, key, refresh_ttl: given.then_some(refresh) }
    }
}

async fn get_item(Shared(app): Shared, Options(options): Options<ItemQuery>) -> ApiResult<Response> {
    let ItemQuery { namespace, key, refresh_ttl: refresh } = options;
    check(&app, &namespace)?;
    let mut items = app.store.of::<Value>(namespace.0);
    if let Some(refresh) = refresh {
        items = items.refreshing(refresh);
    }
    Ok(reply::json(&items.item(key).await?.as_ref().map(item_json)))
}

async fn delete_item(Shared(app): Shared, Body(body): Body<ItemDelete>) -> ApiResult<Response> {
    check(&app, &body.namespace)?;
    app.store.of::<Value>(body.namespace.0).delete(body.key).await?;
    Ok(reply::no_content())
}

async fn search(Shared(app): Shared, Body(body): Body<ItemSearch>) -> ApiResult<Response> {
    let ItemSearch { namespace_prefix, filter, query, limit, offset, refresh_ttl } = body;
    check(&app, &namespace_prefix)?;
    let mut items = app.store.of::<Value>(namespace_prefix.0);
    if let Some(refresh) = refresh_ttl {
        items = items.refreshing(refresh);
    }
    let mut search = items.search().offset(offset).limit(limit);
    let mut path = Vec::new();
    let mut tests = Vec::new();
    read_filter(&mut path, &filter, &mut tests)?;
    for (path, test, operand) in tests {
        search = compare(search, path, test, operand);
    }
    if let Some(query) = query.filter(|query| !query.is_empty()) {
        search = search.query(query);
    }
    let found = search.await?.items;
    // They sort after all other items.
    let shown = found.iter().filter(|found| !is_reserved(&found.item.namespace));
    let items: Vec<_> = shown
        .map(|found| FoundItem { item: item_json(&found.item), score: found.score.map(f64::from) })
        .collect();
    Ok(reply::json(&FoundItems { items }))
}

async fn namespaces(Shared(app): Shared, Body(body): Body<NamespaceSearch>) -> ApiResult<Response> {
    let NamespaceSearch { prefix, suffix, max_depth, limit, offset } = body;
    check(&app, &prefix)?;
    let mut list = app.store.namespaces().within(prefix.0).ending(suffix.0).offset(offset).limit(limit);
    if let Some(depth) = max_depth {
        list = list.max_depth(depth);
    }
    let found = list.await?.items;
    let shown: Vec<_> =
        found.iter().filter(|namespace| !is_reserved(namespace)).map(Namespace::segments).collect();
    Ok(reply::json(&FoundNamespaces { namespaces: shown }))
}

/// Checks that the caller may use the items of a namespace and those below it.
fn check(app: &App, namespace: &ItemNamespace) -> ApiResult<()> {
    match &app.caller {
        Some(caller) if !caller.may_use(&namespace.0) => Err(ApiError::new(
            StatusCode::FORBIDDEN,
            format!("the namespace is not one of the caller's: begin it with `{}`", caller.id()),
        )),
        _ => Ok(()),
    }
}

fn is_reserved(namespace: &Namespace) -> bool {
    namespace.segments().first().is_some_and(|first| &**first == RESERVED)
}

/// An item.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Item")]
pub(super) struct ItemJson<'i> {
    /// The namespace.
    #[schemars(with = "Vec<String>")]
    namespace: &'i [Arc<str>],
    /// The key.
    key: &'i str,
    /// The value.
    value: &'i Value,
    /// The time of creation.
    created_at: Timestamp,
    /// The time of the last change.
    updated_at: Timestamp,
}

/// An item that a search has found.
#[derive(Serialize, JsonSchema)]
pub(super) struct FoundItem<'i> {
    #[serde(flatten)]
    item: ItemJson<'i>,
    /// The similarity to the query of a search by meaning.
    score: Option<f64>,
}

/// The items that a search has found.
#[derive(Serialize, JsonSchema)]
pub(super) struct FoundItems<'i> {
    items: Vec<FoundItem<'i>>,
}

/// The namespaces that a search has found.
#[derive(Serialize, JsonSchema)]
pub(super) struct FoundNamespaces<'n> {
    #[schemars(with = "Vec<Vec<String>>")]
    namespaces: Vec<&'n [Arc<str>]>,
}

fn item_json(item: &Item<Value>) -> ItemJson<'_> {
    ItemJson {
        namespace: item.namespace.segments(),
        key: &item.key,
        value: &item.value,
        created_at: item.created_at.into(),
        updated_at: item.updated_at.into(),
    }
}

/// A field as clients name it, with dots between the keys.
fn path(field: &str) -> FieldPath {
    if field == "$" { FieldPath::whole() } else { field.split('.').collect::<Vec<_>>().into() }
}

type Tested = (Vec<String>, Test, Value);

/// Reads a filter: values to equal, nested objects, and operators such as `{"$gt": 3}`.
fn read_filter(path: &mut Vec<String>, filter: &Object, tests: &mut Vec<Tested>) -> ApiResult<()> {
    for (key, value) in filter {
        if !key.starts_with('$') {
            path.push(key.clone());
            match value {
                Value::Object(inner) => read_filter(path, inner, tests)?,
                value => tests.push((path.clone(), Test::Equal, value.clone())),
            }
            path.pop();
            continue;
        }
        let test = match &**key {
            "$eq" => Test::Equal,
            "$ne" => Test::NotEqual,
            "$gt" => Test::Greater,
            "$gte" => Test::AtLeast,
            "$lt" => Test::Less,
            "$lte" => Test::AtMost,
            _ => {
                return Err(ApiError::unprocessable(format!(
                    "`filter`: unknown operator `{key}`, expected `$eq`, `$ne`, `$gt`, `$gte`, `$lt` or `$lte`"
                )));
            }
        };
        tests.push((path.clone(), test, value.clone()));
    }
    Ok(())
}

type Searching = superstep::store::Searching<Value>;

fn compare(search: Searching, path: Vec<String>, test: Test, operand: Value) -> Searching {
    use superstep::store::{gt, gte, lt, lte, ne};
    match test {
        Test::NotEqual => search.filter(path, ne(operand)),
        Test::Greater => search.filter(path, gt(operand)),
        Test::AtLeast => search.filter(path, gte(operand)),
        Test::Less => search.filter(path, lt(operand)),
        Test::AtMost => search.filter(path, lte(operand)),
        _ => search.filter(path, operand),
    }
}
