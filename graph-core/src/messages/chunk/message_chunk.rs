use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::messages::{AiMessage, Block, Content, InvalidToolCall, ToolCall, Usage};

/// A piece of a model's reply, as it is streamed.
///
/// Most pieces are text. A listener appends [`text`](field@Self::text) to its page, whatever the model:
///
/// ```
/// use superstep::messages::MessageChunk;
///
/// assert_eq!(MessageChunk::text("Good ").text, "Good ");
/// ```
///
/// A reply can also consist of content blocks, such as signed thinking, which the next request has to repeat exactly. Their
/// pieces have the index of their block:
///
/// ```
/// use serde_json::json;
/// use superstep::messages::{Block, BlockChunk, MessageAssembler, MessageChunk};
///
/// # fn main() -> serde_json::Result<()> {
/// let mut reply = MessageAssembler::default();
/// for (index, block) in [
///     (0, json!({"type": "thinking", "thinking": "She greets"})),
///     (0, json!({"type": "thinking", "thinking": " me."})),
///     (0, json!({"type": "thinking", "thinking": "", "signature": "c2lnbmVk"})),
///     (1, json!({"type": "text", "text": "Good morning."})),
/// ] {
///     let block: Block = serde_json::from_value(block)?;
///     reply.push(&MessageChunk::blocks([BlockChunk::new(index, block)]));
/// }
/// assert_eq!(serde_json::to_value(reply.finish().content)?, json!([
///     {"type": "thinking", "thinking": "She greets me.", "signature": "c2lnbmVk"},
///     {"type": "text", "text": "Good morning."},
/// ]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct MessageChunk {
    /// The id of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The name of the agent, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Text to append.
    ///
    /// In a piece with [`blocks`](field@Self::blocks), this is the text of these blocks.
    #[serde(rename = "content", skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Reasoning to append.
    ///
    /// In a piece with [`blocks`](field@Self::blocks), this is the reasoning of these blocks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    /// Pieces of content blocks. If there are any, the assembler reads them instead of `text` and `reasoning`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<BlockChunk>,
    /// Pieces of tool calls.
    #[serde(rename = "tool_call_chunks", skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCallChunk>,
    /// The token usage of the whole reply, usually in the last piece. A later usage replaces an earlier one.
    #[serde(rename = "usage_metadata", skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Fields of a provider's format. Strings, such as a refusal, are appended to those of earlier pieces.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub additional_kwargs: Map<String, Value>,
    /// Metadata from the provider, such as the stop reason.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub response_metadata: Map<String, Value>,
    /// All other fields of the message.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// A piece of a content block.
///
/// The first piece of a block begins it. The others are appended:
///
/// - text, reasoning and signatures grow;
/// - lists in other fields are extended, objects merged, and other values replaced;
/// - a tool call without an input gets the arguments of the [call](field@MessageChunk::calls) with its id.
///
/// A piece of another kind than the block with its index begins a new block after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BlockChunk {
    /// The index of the block in the content.
    pub index: usize,
    /// The piece, as a block of its own.
    pub block: Block,
}

/// A piece of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolCallChunk {
    /// The index of the call in the reply.
    pub index: usize,
    /// The call's id, in the first piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name, in the first piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A part of the arguments, to append.
    pub args: String,
    /// The error in the arguments. The assembler sets a missing one if it cannot read them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// All other fields, such as the signature of a provider. Lists are extended, objects merged, and other values replaced.
    ///
    /// With the `type` `invalid_tool_call`, the call is invalid whatever its arguments.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// The `type` of an [`InvalidToolCall`].
pub(super) const INVALID: &str = "invalid_tool_call";

impl ToolCallChunk {
    /// Creates a piece of the call with this index, without an id and a name.
    pub fn new(index: usize, args: impl Into<String>) -> Self {
        Self { index, args: args.into(), ..Self::default() }
    }

    fn of(index: usize, call: &ToolCall) -> Self {
        let ToolCall { id, name, args, extra } = call;
        let mut extra = extra.clone();
        // Every call has this type unless its piece has another.
        if extra.get("type").is_some_and(|kind| kind == "tool_call") {
            extra.remove("type");
        }
        let args = Value::Object(args.clone()).to_string();
        Self { id: Some(id.clone()), name: Some(name.clone()), extra, ..Self::new(index, args) }
    }

    fn of_invalid(index: usize, call: &InvalidToolCall) -> Self {
        let InvalidToolCall { id, name, args, error, extra } = call;
        let (mut extra, error) = (extra.clone(), error.clone());
        extra.insert("type".to_owned(), INVALID.into());
        Self { id: Some(id.clone()), name: Some(name.clone()), error, extra, ..Self::new(index, args) }
    }
}

impl BlockChunk {
    /// Creates a piece of the block with this index.
    pub fn new(index: usize, block: impl Into<Block>) -> Self {
        Self { index, block: block.into() }
    }
}

impl MessageChunk {
    /// Creates a piece of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Creates a piece with pieces of content blocks. Its `text` and `reasoning` are those of the blocks.
    pub fn blocks(blocks: impl IntoIterator<Item = BlockChunk>) -> Self {
        let mut chunk = Self { blocks: blocks.into_iter().collect(), ..Self::default() };
        for BlockChunk { block, .. } in &chunk.blocks {
            match block {
                Block::Text(block) => chunk.text.push_str(&block.text),
                Block::Reasoning(block) => chunk.reasoning.push_str(&block.text),
                _ => {}
            }
        }
        chunk
    }

    /// Sets the id of the message.
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }
}

/// Makes one piece of a whole message.
impl From<&AiMessage> for MessageChunk {
    fn from(message: &AiMessage) -> Self {
        let AiMessage {
            content,
            id,
            name,
            tool_calls,
            invalid_tool_calls,
            usage,
            additional_kwargs,
            response_metadata,
            extra,
        } = message;
        let calls = tool_calls.iter().enumerate().map(|(index, call)| ToolCallChunk::of(index, call));
        let invalid = invalid_tool_calls.iter().zip(tool_calls.len()..);
        let invalid = invalid.map(|(call, index)| ToolCallChunk::of_invalid(index, call));
        let chunk = match content {
            Content::Text(text) => Self::text(text),
            Content::Blocks(blocks) => Self::blocks(
                blocks.iter().zip(0..).map(|(block, index)| BlockChunk::new(index, block.clone())),
            ),
        };
        Self {
            id: id.clone(),
            name: name.clone(),
            calls: calls.chain(invalid).collect(),
            usage: usage.clone(),
            additional_kwargs: additional_kwargs.clone(),
            response_metadata: response_metadata.clone(),
            extra: extra.clone(),
            ..chunk
        }
    }
}
