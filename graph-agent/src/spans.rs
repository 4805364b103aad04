//! Spans of model calls and tool calls, by OpenTelemetry's conventions. Without the feature `tracing` there are no spans.
//!
//! No span contains a prompt, a reply, or a tool's arguments or results.

use std::future::Future;

use superstep::messages::{AiMessage, ToolCall};
use superstep::{GraphState, NodeError};

use crate::model::request::ChatRequest;
use crate::tool::{Tool, ToolOutput};
use crate::{ChatModel, ModelError};

/// Returns `true` if this OS thread has a subscriber.
///
/// Checked before a span is created: `tracing` caches per call site, for the whole process, whether a subscriber is interested.
/// If a thread without a subscriber created the span first, no other thread would get it.
#[cfg(feature = "tracing")]
fn has_subscriber() -> bool {
    use tracing::level_filters::LevelFilter;
    use tracing::subscriber::NoSubscriber;

    LevelFilter::current() >= LevelFilter::INFO
        && tracing::dispatcher::get_default(|subscriber| !subscriber.is::<NoSubscriber>())
}

/// Waits for a reply of the model inside a span that records its token usage.
#[cfg(feature = "tracing")]
pub(crate) async fn chat(
    model: &dyn ChatModel,
    request: &ChatRequest,
    thread: Option<&str>,
    reply: impl Future<Output = Result<AiMessage, ModelError>>,
) -> Result<AiMessage, ModelError> {
    use tracing::Instrument as _;
    use tracing::field::Empty;

    if !has_subscriber() {
        return reply.await;
    }
    let span = tracing::info_span!(
        target: "superstep_agent",
        "chat",
        otel.name = format!("chat {}", model.name()),
        otel.kind = "client",
        otel.status_code = Empty,
        gen_ai.operation.name = "chat",
        gen_ai.provider.name = model.provider(),
        gen_ai.request.model = model.name(),
        gen_ai.request.temperature = request.temperature,
        gen_ai.request.max_tokens = request.max_tokens,
        "gen_ai.output.type" = request.response_schema.is_some().then_some("json"),
        gen_ai.conversation.id = thread,
        gen_ai.response.id = Empty,
        gen_ai.response.model = Empty,
        gen_ai.response.finish_reasons = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        gen_ai.usage.cache_read.input_tokens = Empty,
        "error.type" = Empty,
    );
    let reply = reply.instrument(span.clone()).await;
    match &reply {
        Ok(reply) => record_reply(&span, reply),
        Err(error) => record_error(&span, &error.kind()),
    }
    reply
}

#[cfg(feature = "tracing")]
fn record_reply(span: &tracing::Span, reply: &AiMessage) {
    let metadata = |key: &str| reply.response_metadata.get(key).and_then(serde_json::Value::as_str);
    let fields = [
        ("gen_ai.response.id", metadata("id").or(reply.id.as_deref())),
        ("gen_ai.response.model", metadata("model_name")),
    ];
    for (field, value) in fields {
        if let Some(value) = value {
            span.record(field, value);
        }
    }
    if let Some(reason) = metadata("finish_reason") {
        // The convention is a list, which `tracing` does not have.
        span.record("gen_ai.response.finish_reasons", serde_json::json!([reason]).to_string());
    }
    if let Some(usage) = &reply.usage {
        span.record("gen_ai.usage.input_tokens", usage.input_tokens);
        span.record("gen_ai.usage.output_tokens", usage.output_tokens);
        let details = usage.extra.get("input_token_details");
        if let Some(read) = details.and_then(|details| details.get("cache_read")?.as_u64()) {
            span.record("gen_ai.usage.cache_read.input_tokens", read);
        }
    }
}

#[cfg(feature = "tracing")]
fn record_error(span: &tracing::Span, kind: &str) {
    span.record("error.type", kind).record("otel.status_code", "ERROR");
}

/// Waits for a tool inside a span.
#[cfg(feature = "tracing")]
pub(crate) async fn tool<S: GraphState, D: 'static>(
    tool: &dyn Tool<S, D>,
    call: &ToolCall,
    thread: Option<&str>,
    output: impl Future<Output = Result<ToolOutput<S>, NodeError>>,
) -> Result<ToolOutput<S>, NodeError> {
    use superstep::messages::ToolStatus;
    use tracing::Instrument as _;
    use tracing::field::Empty;

    if !has_subscriber() {
        return output.await;
    }
    let span = tracing::info_span!(
        target: "superstep_agent",
        "execute_tool",
        otel.name = format!("execute_tool {}", call.name),
        otel.kind = "internal",
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = call.name,
        gen_ai.tool.call.id = call.id,
        "gen_ai.tool.type" = "function",
        gen_ai.tool.description = tool.spec().description,
        gen_ai.conversation.id = thread,
        "error.type" = Empty,
    );
    let output = output.instrument(span.clone()).await;
    match &output {
        Ok(output) if output.status == ToolStatus::Error => record_error(&span, "tool_error"),
        Ok(_) => {}
        Err(error) => record_error(&span, error.type_name()),
    }
    output
}

/// Waits for a reply of the model.
#[cfg(not(feature = "tracing"))]
pub(crate) fn chat<F: Future<Output = Result<AiMessage, ModelError>>>(
    _: &dyn ChatModel,
    _: &ChatRequest,
    _: Option<&str>,
    reply: F,
) -> F {
    reply
}

/// Waits for a tool.
#[cfg(not(feature = "tracing"))]
pub(crate) fn tool<S: GraphState, D: 'static, F: Future<Output = Result<ToolOutput<S>, NodeError>>>(
    _: &dyn Tool<S, D>,
    _: &ToolCall,
    _: Option<&str>,
    output: F,
) -> F {
    output
}
