use serde_json::{Map, Value};
use superstep::messages::Message;

/// What a model is asked.
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
    /// The tools that the model may want called.
    pub tools: Vec<ToolSpec>,
    /// Whether it has to.
    pub tool_choice: ToolChoice,
    /// What its answer has to be like, if it is to be JSON.
    pub answer: Option<AnswerSchema>,
    /// How freely it chooses its words, from 0 on; the model's own default when there is none.
    pub temperature: Option<f64>,
    /// So many tokens at most.
    pub max_tokens: Option<u32>,
    /// Further fields of the provider's request, as they are.
    pub extra: Map<String, Value>,
}

impl ChatRequest {
    /// Asks for the message that follows these.
    pub fn new(messages: impl IntoIterator<Item = impl Into<Message>>) -> Self {
        Self { messages: messages.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Offers tools.
    pub fn tools(self, tools: impl IntoIterator<Item = ToolSpec>) -> Self {
        Self { tools: tools.into_iter().collect(), ..self }
    }

    /// Whether the model has to call one.
    pub fn tool_choice(self, tool_choice: ToolChoice) -> Self {
        Self { tool_choice, ..self }
    }

    /// Asks for JSON of this kind.
    pub fn answer(self, answer: AnswerSchema) -> Self {
        Self { answer: Some(answer), ..self }
    }

    /// How freely it chooses its words.
    pub fn temperature(self, temperature: f64) -> Self {
        Self { temperature: Some(temperature), ..self }
    }

    /// So many tokens at most.
    pub fn max_tokens(self, max_tokens: u32) -> Self {
        Self { max_tokens: Some(max_tokens), ..self }
    }

    /// Adds a field of the provider's request.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(name.into(), value.into());
        self
    }
}

/// What a model is told of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The JSON Schema of its arguments, which are an object.
    pub parameters: Value,
}

/// Whether a model has to call a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// None.
    None,
    /// One at least.
    Required,
    /// This one.
    Tool(String),
}

/// What an answer has to be like that is JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerSchema {
    /// What it is called.
    pub name: String,
    /// The JSON Schema.
    pub schema: Value,
}
