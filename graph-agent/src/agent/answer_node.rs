use std::error::Error;
use std::marker::PhantomData;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use superstep::messages::sanity::Texts;
use superstep::messages::{Content, HasMessages, Message};
use superstep::{ContextWith, Node, Result};
use thiserror::Error as ThisError;

use crate::model::request::{AnswerSchema, ChatRequest};
use crate::spans;
use crate::tool::schema_of;

use super::chosen::Chosen;
use super::model_node::asked;

/// The name of the node that asks for the final answer, in an [`Agent`](super::Agent).
pub const ANSWER: &str = "answer";

/// What follows the conversation, which else would end on what the model itself has said.
const ASKS: &str =
    "Sum this conversation up in the form that is asked for: as JSON of the schema, and nothing else.";

/// So often is the model told what is wrong with its answer.
const ATTEMPTS: usize = 3;

/// A node that asks a model to sum a conversation up as a `T`, and writes it to the state.
///
/// A model that answers with something else is told what is wrong with it, twice at most. What is said meanwhile is no
/// part of the conversation, and is asked anew if the node is cut off.
pub struct AnswerNode<S: HasMessages, T, D = ()> {
    model: Chosen<D>,
    system: Option<Content>,
    texts: Texts,
    schema: AnswerSchema,
    write: Arc<dyn Fn(T) -> S::Update + Send + Sync>,
    state: PhantomData<fn(S)>,
}

/// A model has not given the answer that it was asked for.
#[derive(Debug, ThisError)]
#[error("model `{model}` gives no answer of the kind that it is asked for: `{said}`")]
pub struct NoAnswer {
    /// The model.
    pub model: String,
    /// What it has said last.
    pub said: String,
    /// What is wrong with that.
    pub source: Box<dyn Error + Send + Sync>,
}

impl<S: HasMessages, T: JsonSchema + DeserializeOwned, D> AnswerNode<S, T, D> {
    pub(super) fn of(
        model: Chosen<D>,
        system: Option<Content>,
        texts: Texts,
        write: Arc<dyn Fn(T) -> S::Update + Send + Sync>,
    ) -> Self {
        let name: String = T::schema_name()
            .chars()
            .filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
            .collect();
        let schema = AnswerSchema { name, schema: schema_of::<T>() };
        Self { model, system, texts, schema, write, state: PhantomData }
    }

    /// A node that asks this model, and writes its answer as `write` says.
    pub fn new(
        model: Arc<dyn crate::ChatModel>,
        write: impl Fn(T) -> S::Update + Send + Sync + 'static,
    ) -> Self {
        Self::of(Chosen::Always(model), None, Texts::default(), Arc::new(write))
    }

    /// What the model is told before the conversation.
    pub fn system(self, text: impl Into<Content>) -> Self {
        Self { system: Some(text.into()), ..self }
    }
}

impl<S, T, D> Node<ContextWith<D>> for AnswerNode<S, T, D>
where
    S: HasMessages,
    T: JsonSchema + DeserializeOwned + 'static,
    D: Send + Sync + 'static,
{
    type Reads = S;
    type Output = Result<S::Update>;

    async fn run(&self, state: &S, ctx: &ContextWith<D>) -> Result<S::Update> {
        let model = self.model.model(ctx.context());
        let asked = asked(self.system.as_ref(), state, &self.texts).into_iter().chain([Message::human(ASKS)]);
        let mut request = ChatRequest::new(asked).answer(self.schema.clone());
        let mut attempt = 1;
        loop {
            let reply = model.complete(&request);
            let reply = spans::chat(&*model, &request, ctx.thread(), reply).await?;
            let said = reply.content.text().trim().to_owned();
            match serde_json::from_str::<T>(in_fence(&said)) {
                Ok(answer) => return Ok((self.write)(answer)),
                Err(error) if attempt < ATTEMPTS => {
                    let schema = &self.schema.schema;
                    let wrong = format!(
                        "This is not the JSON that was asked for ({error}). Answer with nothing but JSON of this schema: {schema}"
                    );
                    request.messages.extend([Message::ai(said), Message::human(wrong)]);
                    attempt += 1;
                }
                Err(error) => {
                    return Err(
                        NoAnswer { model: model.name().to_owned(), said, source: error.into() }.into()
                    );
                }
            }
        }
    }
}

/// Models like to put JSON between fences.
fn in_fence(text: &str) -> &str {
    let inside = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inside.and_then(|text| text.strip_suffix("```")).map_or(text, str::trim)
}

impl<S: HasMessages, T, D> std::fmt::Debug for AnswerNode<S, T, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnswerNode").field("model", &self.model).field("schema", &self.schema.name).finish()
    }
}
