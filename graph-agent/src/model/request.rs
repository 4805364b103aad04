use serde_json::{Map, Value};
use superstep::messages::Message;

/// A request to a model: the conversation, the tools and the options.
///
/// ```
/// use superstep_agent::ChatRequest;
/// use superstep::messages::Message;
///
/// let request = ChatRequest::new([Message::system("be brief"), Message::human("why?")]).temperature(0.2);
/// assert_eq!(request.messages.len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ChatRequest {
    /// The conversation.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// The rule for calling tools.
    pub tool_choice: ToolChoice,
    /// The schema of the answer, if it must be JSON.
    pub response_schema: Option<ResponseSchema>,
    /// The sampling temperature, from 0. The model's own default if it is `None`.
    pub temperature: Option<f64>,
    /// The maximum number of tokens in the reply.
    pub max_tokens: Option<u32>,
    /// Additional fields of the provider's request, which are sent unchanged.
    pub extra: Map<String, Value>,
}

impl ChatRequest {
    /// Creates a request for the message that follows these.
    pub fn new(messages: impl IntoIterator<Item = impl Into<Message>>) -> Self {
        Self { messages: messages.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Sets the tools that the model may call.
    pub fn tools(self, tools: impl IntoIterator<Item = ToolSpec>) -> Self {
        Self { tools: tools.into_iter().collect(), ..self }
    }

    /// Sets the rule for calling tools.
    pub fn tool_choice(self, tool_choice: ToolChoice) -> Self {
        Self { tool_choice, ..self }
    }

    /// Requests an answer as JSON with this schema.
    pub fn response_schema(self, schema: ResponseSchema) -> Self {
        Self { response_schema: Some(schema), ..self }
    }

    /// Sets the sampling temperature.
    pub fn temperature(self, temperature: f64) -> Self {
        Self { temperature: Some(temperature), ..self }
    }

    /// Sets the maximum number of tokens in the reply.
    pub fn max_tokens(self, max_tokens: u32) -> Self {
        Self { max_tokens: Some(max_tokens), ..self }
    }

    /// Adds a field to the provider's request.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(name.into(), value.into());
        self
    }
}

/// The description of a tool for a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name of the tool.
    pub name: String,
    /// The purpose of the tool.
    pub description: String,
    /// The JSON Schema of the arguments, which are a JSON object.
    pub parameters: Value,
}

impl ToolSpec {
    /// Creates the description of a tool. `parameters` is the JSON Schema of its arguments.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self { name: name.into(), description: description.into(), parameters }
    }
}

/// A rule for calling tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// The model must not call a tool.
    None,
    /// The model must call at least one tool.
    Required,
    /// The model must call the tool of this name.
    Tool(String),
}

/// The name and schema of an answer as JSON.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResponseSchema {
    /// The name of the schema.
    pub name: String,
    /// The JSON Schema.
    pub schema: Value,
}

impl ResponseSchema {
    /// Names a JSON Schema.
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        Self { name: name.into(), schema }
    }
}
