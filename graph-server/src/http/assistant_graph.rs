//! The graph of an assistant: its drawing, its schemas and its subgraphs.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::get;
use schemars::{JsonSchema, json_schema};
use serde::Serialize;
use serde_json::{Value, json};
use superstep::graph::GraphShape;

use crate::api_error::{ApiError, ApiResult};
use crate::app::{App, Shared};
use crate::graphs::AnyGraph;
use crate::protocol::Object;

use super::drawing::draw;
use super::path::AssistantPart;
use super::query::{Options, Query, ReadQuery};
use super::{assistants, reply};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/assistants/{assistant}/graph", get(graph))
        .route("/assistants/{assistant}/schemas", get(schemas))
        .route("/assistants/{assistant}/subgraphs", get(all_subgraphs))
        .route("/assistants/{assistant}/subgraphs/{namespace}", get(subgraphs))
}

async fn find(app: &App, part: &AssistantPart) -> ApiResult<(String, Arc<dyn AnyGraph>)> {
    let assistant = assistants::find(app, part).await?;
    match app.graphs.find(&assistant.graph_id) {
        Some(graph) => Ok((assistant.graph_id, Arc::clone(graph))),
        None => Err(ApiError::not_found(format!(
            "Graph '{}' of the assistant not found. Expected one of: {}",
            assistant.graph_id,
            app.graphs.names()
        ))),
    }
}

/// The options of a drawing.
#[derive(JsonSchema)]
pub(super) struct GraphQuery {
    /// The depth to which subgraphs are drawn. `true` for all of them.
    xray: usize,
}

impl ReadQuery for GraphQuery {
    fn read(query: &mut Query) -> Self {
        // A boolean or the depth. `1` is both: one level.
        let xray = match query.text("xray").map(str::to_ascii_lowercase).as_deref() {
            None | Some("false") => 0,
            Some("true") => usize::MAX,
            Some(_) => query.integer("xray", 0..=usize::MAX, 0),
        };
        query.refine(
            "xray",
            || json_schema!({ "anyOf": [{ "type": "boolean" }, { "type": "integer", "minimum": 0 }] }),
        );
        Self { xray }
    }
}

async fn graph(
    Shared(app): Shared,
    id: AssistantPart,
    Options(options): Options<GraphQuery>,
) -> ApiResult<Response> {
    let (_, graph) = find(&app, &id).await?;
    Ok(reply::json(&draw(&graph.shape(), options.xray)))
}

/// The JSON Schemas of a graph.
#[derive(Serialize, JsonSchema)]
pub(super) struct GraphSchemas<'s> {
    /// The graph.
    graph_id: String,
    #[serde(flatten)]
    schemas: SchemasJson<'s>,
}

/// The JSON Schemas of a graph. Those of a subgraph are not known.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "SubgraphSchemas")]
pub(super) struct SchemasJson<'s> {
    /// The schema of the `input` of a run.
    input_schema: Option<&'s Value>,
    /// The schema of the fields of the output.
    output_schema: Option<&'s Value>,
    /// The schema of the `values` of a thread, and of `values` events.
    state_schema: Option<&'s Value>,
    /// The schema of the `config` of a run.
    config_schema: Option<Object>,
    /// The schema of the `context` of a run.
    context_schema: Option<Object>,
}

async fn schemas(Shared(app): Shared, id: AssistantPart) -> ApiResult<Response> {
    let (id, graph) = find(&app, &id).await?;
    let schemas = graph.schemas();
    Ok(reply::json(&GraphSchemas {
        graph_id: id,
        schemas: SchemasJson {
            input_schema: Some(&schemas.input),
            output_schema: Some(&schemas.output),
            state_schema: Some(&schemas.state),
            config_schema: Some(Object::new()),
            context_schema: None,
        },
    }))
}

/// The options of a list of subgraphs.
#[derive(JsonSchema)]
pub(super) struct SubgraphQuery {
    /// `true` to list the subgraphs of subgraphs too.
    pub(super) recurse: bool,
}

impl ReadQuery for SubgraphQuery {
    fn read(query: &mut Query) -> Self {
        Self { recurse: query.flag("recurse") }
    }
}

async fn all_subgraphs(
    Shared(app): Shared,
    id: AssistantPart,
    Options(SubgraphQuery { recurse }): Options<SubgraphQuery>,
) -> ApiResult<Response> {
    let (_, graph) = find(&app, &id).await?;
    let mut found = Object::new();
    collect(&graph.shape(), "", recurse, &mut found);
    Ok(reply::json(&found))
}

async fn subgraphs(
    Shared(app): Shared,
    Path((id, namespace)): Path<(String, String)>,
    Options(SubgraphQuery { recurse }): Options<SubgraphQuery>,
) -> ApiResult<Response> {
    let (_, graph) = find(&app, &AssistantPart(id)).await?;
    let mut found = Object::new();
    collect(&graph.shape(), "", true, &mut found);
    let inner = format!("{namespace}|");
    found.retain(|name, _| *name == namespace || (recurse && name.starts_with(&inner)));
    Ok(reply::json(&found))
}

/// Collects the subgraphs by their namespaces: the names of the nodes, with `|` between them.
///
/// The schemas of their states are not known here: only the graph itself is served with its types.
fn collect(shape: &GraphShape, prefix: &str, recurse: bool, found: &mut Object) {
    for node in &shape.nodes {
        let Some(subgraph) = &node.subgraph else { continue };
        let name = format!("{prefix}{}", node.name);
        if recurse {
            collect(subgraph, &format!("{name}|"), recurse, found);
        }
        found.insert(name, json!(SchemasJson::default()));
    }
}
