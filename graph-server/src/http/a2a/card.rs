//! Agent cards.

use std::sync::Arc;

use axum::extract::OriginalUri;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use schemars::JsonSchema;
use serde::Serialize;

use crate::api_error::{ApiError, ApiResult};
use crate::app::{App, Shared};
use crate::graphs::AnyGraph;
use crate::http::assistants;
use crate::http::path::AssistantPart;
use crate::http::query::{Options, Query, ReadQuery};
use crate::http::reply;
use crate::protocol::AssistantId;
use crate::records::AssistantRecord;

/// The path of a card below the path of its agent.
const CARD: &str = "/.well-known/agent-card.json";

/// The assistant of a card.
#[derive(JsonSchema)]
pub(crate) struct CardQuery {
    /// The assistant: a UUID or the name of a graph. It must be given.
    pub(crate) assistant_id: Option<String>,
}

impl ReadQuery for CardQuery {
    fn read(query: &mut Query) -> Self {
        Self { assistant_id: query.text("assistant_id").map(str::to_owned) }
    }
}

/// Responds with the card of the assistant in the query.
pub(super) async fn of_query(
    Shared(app): Shared,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    Options(options): Options<CardQuery>,
) -> ApiResult<Response> {
    let Some(id) = options.assistant_id else {
        return Err(ApiError::new(
            axum::http::StatusCode::BAD_REQUEST,
            "`assistant_id`: required, because each assistant has a card of its own",
        ));
    };
    let assistant = assistants::find(&app, &AssistantPart(id)).await?;
    let prefix = uri.path().strip_suffix(CARD).unwrap_or_default();
    let place = format!("{prefix}/a2a/{}", assistant.assistant_id);
    respond(&app, &assistant, &address(&headers, &place))
}

/// Responds with the card of the assistant in the path.
pub(super) async fn of_path(
    Shared(app): Shared,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    part: AssistantPart,
) -> ApiResult<Response> {
    let assistant = assistants::find(&app, &part).await?;
    let place = uri.path().strip_suffix(CARD).unwrap_or_default();
    respond(&app, &assistant, &address(&headers, place))
}

/// Returns the address of a path as the client reaches it. Without a host, it is the path itself.
fn address(headers: &HeaderMap, path: &str) -> String {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).filter(|text| !text.is_empty());
    match text(header::HOST.as_str()) {
        Some(host) => format!("{}://{host}{path}", text("x-forwarded-proto").unwrap_or("http")),
        None => path.to_owned(),
    }
}

fn respond(app: &Arc<App>, assistant: &AssistantRecord, url: &str) -> ApiResult<Response> {
    let graph = app.graphs.find(&assistant.graph_id);
    let graph =
        graph.ok_or_else(|| ApiError::not_found(format!("Graph `{}` not found", assistant.graph_id)))?;
    Ok(reply::json(&card(assistant, &**graph, url)))
}

/// Returns the card, for clients of versions 0.3 and 1.0.
fn card(assistant: &AssistantRecord, graph: &dyn AnyGraph, url: &str) -> AgentCard {
    let modes: &[&str] = match graph.schemas().input_has("messages") {
        true => &["text/plain", "application/json"],
        false => &["application/json"],
    };
    let graph_id = &assistant.graph_id;
    let description = assistant.description.as_deref().filter(|text| !text.is_empty());
    let description =
        description.map_or_else(|| format!("The assistant `{}`.", assistant.name), str::to_owned);
    let interface =
        |version| Interface { url: url.to_owned(), protocol_binding: "JSONRPC", protocol_version: version };
    let is_default = assistant.assistant_id == AssistantId::of_graph(graph_id);
    AgentCard {
        name: assistant.name.clone(),
        description: description.clone(),
        version: assistant.version.to_string(),
        url: url.to_owned(),
        preferred_transport: "JSONRPC",
        protocol_version: "0.3.0",
        supported_interfaces: [interface("1.0"), interface("0.3")],
        capabilities: Capabilities {
            streaming: true,
            push_notifications: false,
            state_transition_history: false,
        },
        default_input_modes: modes.to_vec(),
        default_output_modes: modes.to_vec(),
        skills: [Skill {
            id: if is_default { graph_id.clone() } else { assistant.assistant_id.to_string() },
            name: assistant.name.clone(),
            description,
            tags: [graph_id.clone()],
            examples: Vec::new(),
            input_modes: modes.to_vec(),
            output_modes: modes.to_vec(),
        }],
    }
}

/// The card of an agent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentCard {
    name: String,
    description: String,
    /// The version of the assistant.
    version: String,
    /// The address of the agent.
    url: String,
    preferred_transport: &'static str,
    protocol_version: &'static str,
    supported_interfaces: [Interface; 2],
    capabilities: Capabilities,
    default_input_modes: Vec<&'static str>,
    default_output_modes: Vec<&'static str>,
    skills: [Skill; 1],
}

/// A version of the protocol that the agent speaks, and its address.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AgentInterface")]
struct Interface {
    url: String,
    protocol_binding: &'static str,
    protocol_version: &'static str,
}

/// The optional parts of the protocol.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AgentCapabilities")]
struct Capabilities {
    streaming: bool,
    push_notifications: bool,
    state_transition_history: bool,
}

/// The assistant as a skill.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AgentSkill")]
struct Skill {
    id: String,
    name: String,
    description: String,
    tags: [String; 1],
    examples: Vec<String>,
    input_modes: Vec<&'static str>,
    output_modes: Vec<&'static str>,
}
