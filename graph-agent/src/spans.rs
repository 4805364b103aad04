//! What `tracing` is told of models and tools, by OpenTelemetry's conventions; nothing without the feature `tracing`.
//!
//! No span says what is asked, answered, given to a tool or got from it.

use std::future::Future;

use superstep::messages::{AiMessage, ToolCall};
use superstep::{GraphState, NodeError};

use crate::model::request::ChatRequest;
use crate::tool::{Tool, ToolOutput};
use crate::{ChatModel, ModelError};

/// Whether there is a subscriber here. It is asked first, since `tracing` takes a thread without one for the whole process: a span
/// that is first made there would be made nowhere else.
#[cfg(feature = "tracing")]
fn is_heard() -> bool {
    use tracing::level_filters::LevelFilter;
    use tracing::subscriber::NoSubscriber;

    LevelFilter::current() >= LevelFilter::INFO
        && tracing::dispatcher::get_default(|subscriber| !subscriber.is::<NoSubscriber>())
}

/// Waits for a reply of the model, within a span that says what it has cost.
#[cfg(feature = "tracing")]
pub(crate) async fn chat(
    model: &dyn ChatModel,
    request: &ChatRequest,
    thread: Option<&str>,
    reply: impl Future<Output = Result<AiMessage, ModelError>>,
) -> Result<AiMessage, ModelError> {
    use tracing::Instrument as _;
    use tracing::field::Empty;

    if !is_heard() {
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
        "gen_ai.output.type" = request.answer.is_some().then_some("json"),
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
        Err(error) => fail(&span, &error.kind()),
    }
    reply
}

#[cfg(feature = "tracing")]
fn record_reply(span: &tracing::Span, reply: &AiMessage) {
    let said = |key: &str| reply.response_metadata.get(key).and_then(serde_json::Value::as_str);
    let told = [
        ("gen_ai.response.id", said("id").or(reply.id.as_deref())),
        ("gen_ai.response.model", said("model_name")),
    ];
    for (field, value) in told {
        if let Some(value) = value {
            span.record(field, value);
        }
    }
    if let Some(reason) = said("finish_reason") {
        // A list; spans of `tracing` have none.
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
fn fail(span: &tracing::Span, kind: &str) {
    span.record("error.type", kind).record("otel.status_code", "ERROR");
}

/// Waits for a tool, within a span.
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

    if !is_heard() {
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
        Ok(output) if output.status == ToolStatus::Error => fail(&span, "tool_error"),
        Ok(_) => {}
        Err(error) => fail(&span, error.type_name()),
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
