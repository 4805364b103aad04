//! The assistants as tools.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::api_error::ApiResult;
use crate::app::App;
use crate::graphs::AnyGraph;
use crate::protocol::{AssistantFilter, AssistantId, AssistantSort, SortOrder};
use crate::runs::RunOutcome;
use crate::stream::interrupts_json;

/// An assistant as a tool: its arguments are the input of a run, its result is the output.
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) assistant_id: AssistantId,
    description: Option<String>,
    graph: Arc<dyn AnyGraph>,
}

/// The length that clients accept for the name of a tool.
const NAME_CHARS: usize = 64;

/// Returns the tools of all assistants whose graphs the server has, oldest first.
pub(super) async fn tools(app: &App) -> ApiResult<Vec<Tool>> {
    let order = (AssistantSort::CreatedAt, SortOrder::Ascending);
    let assistants = app.records.assistants(&AssistantFilter::default(), order, usize::MAX).await?;
    let mut names = HashSet::new();
    let mut tools = Vec::with_capacity(assistants.len());
    for assistant in assistants {
        let Some(graph) = app.graphs.find(&assistant.graph_id) else { continue };
        let mut name = tool_name(&assistant.name);
        if name.is_empty() || !names.insert(name.clone()) {
            // Ids have no characters that a name cannot have.
            name = assistant.assistant_id.to_string();
            names.insert(name.clone());
        }
        tools.push(Tool {
            name,
            assistant_id: assistant.assistant_id,
            description: assistant.description,
            graph: Arc::clone(graph),
        });
    }
    Ok(tools)
}

/// Returns the name with `_` in place of the characters that a tool's name cannot have.
fn tool_name(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.chars().take(NAME_CHARS).map(allowed).collect()
}

impl Tool {
    pub(super) fn to_json(&self) -> Value {
        let schemas = self.graph.schemas();
        json!({
            "name": self.name,
            "description": self.description.as_deref().unwrap_or_default(),
            "inputSchema": schemas.input,
            "outputSchema": schemas.output,
        })
    }

    /// Returns the result of a call whose run has ended.
    pub(super) fn result(&self, outcome: &RunOutcome) -> Value {
        match outcome {
            RunOutcome::Done(values) => match serde_json::from_str::<Map<String, Value>>(values.get()) {
                Ok(values) => self.output(values),
                Err(error) => Self::failure(format!("the output is not an object: {error}")),
            },
            RunOutcome::Stopped { interrupts, .. } => Self::failure(format!(
                "the run waits for answers, which this protocol cannot give; use a thread of the server instead: {}",
                interrupts_json(interrupts)
            )),
            RunOutcome::Failed(failure) => Self::failure(format!("{}: {}", failure.error, failure.message)),
            RunOutcome::Cancelled | RunOutcome::RolledBack | RunOutcome::HandedOver => {
                Self::failure("the run was cancelled".to_owned())
            }
        }
    }

    /// Returns the fields of the output as a result: as JSON, and as text for clients without structured results.
    fn output(&self, values: Map<String, Value>) -> Value {
        let values = Value::Object(self.graph.schemas().output_of(values));
        json!({
            "content": [{ "type": "text", "text": values.to_string() }],
            "structuredContent": values,
            "isError": false,
        })
    }

    /// Returns the result of a call that has failed.
    pub(super) fn failure(text: String) -> Value {
        json!({ "content": [{ "type": "text", "text": text }], "isError": true })
    }
}
