use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

/// A part of what a message says.
///
/// Providers write the same thing in different forms; a block that was read is written in the form in which it was read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// Text.
    Text(TextBlock),
    /// An image.
    Image(ImageBlock),
    /// A tool that the model wants called. The message's [`tool_calls`](super::AiMessage::tool_calls) have it as well.
    ToolUse(ToolUseBlock),
    /// What the model has thought.
    Reasoning(ReasoningBlock),
    /// Anything else, as it was read.
    Other(Map<String, Value>),
}

/// Text in a message of several blocks.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TextBlock {
    /// The text.
    pub text: String,
    /// What else it came with, such as citations.
    pub extra: Map<String, Value>,
}

/// An image.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImageBlock {
    /// Where it is.
    pub source: ImageSource,
    /// How closely the model is to look at it, where the provider has a word for that.
    pub detail: Option<String>,
    /// What else it came with.
    pub extra: Map<String, Value>,
    form: ImageForm,
}

/// Where an image is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageSource {
    /// At an address; a `data:` URL is an address too.
    Url(String),
    /// Here, in base64.
    Base64 {
        /// What it is, such as `image/png`.
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
    /// In a file at the provider.
    File(String),
}

/// A tool that the model wants called.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolUseBlock {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: Value,
    /// What else it came with.
    pub extra: Map<String, Value>,
    form: ToolUseForm,
}

/// What the model has thought.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ReasoningBlock {
    /// The thought.
    pub text: String,
    /// What the provider knows it by.
    pub signature: Option<String>,
    /// What else it came with.
    pub extra: Map<String, Value>,
    form: ReasoningForm,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ImageForm {
    /// `{"type": "image_url", "image_url": {"url": ..}}`
    #[default]
    Url,
    /// `{"type": "image_url", "image_url": ".."}`
    BareUrl,
    /// `{"type": "image", "source": {"type": "base64", ..}}`
    Source,
    /// `{"type": "image", "url": ..}`, `{"type": "image", "base64": ..}`
    Flat,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ToolUseForm {
    /// `{"type": "tool_use", "input": ..}`
    #[default]
    Input,
    /// `{"type": "tool_call", "args": ..}`
    Args,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReasoningForm {
    /// `{"type": "reasoning", "reasoning": ..}`
    #[default]
    Reasoning,
    /// `{"type": "thinking", "thinking": ..}`
    Thinking,
}

impl Block {
    /// A block of text.
    pub fn text_of(text: impl Into<String>) -> Self {
        Self::Text(TextBlock { text: text.into(), extra: Map::new() })
    }

    /// An image at an address.
    pub fn image_url(url: impl Into<String>) -> Self {
        Self::image(ImageSource::Url(url.into()), ImageForm::Url)
    }

    /// An image whose bytes are here, in base64.
    pub fn image_base64(media_type: impl Into<String>, data: impl Into<String>) -> Self {
        let source = ImageSource::Base64 { media_type: media_type.into(), data: data.into() };
        Self::image(source, ImageForm::Flat)
    }

    /// What the model has thought.
    pub fn reasoning(text: impl Into<String>) -> Self {
        Self::Reasoning(ReasoningBlock { text: text.into(), ..ReasoningBlock::default() })
    }

    fn image(source: ImageSource, form: ImageForm) -> Self {
        Self::Image(ImageBlock { source, detail: None, extra: Map::new(), form })
    }

    /// The text of a block of text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }

    /// Reads a block; what has no form that is known here is kept as it is.
    fn of(mut block: Map<String, Value>) -> Self {
        let kind = block.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let read = match kind.as_str() {
            "text" => take(&mut block, "text").map(|text| Self::Text(TextBlock { text, extra: Map::new() })),
            "image_url" => image_url(&mut block),
            "image" => image(&mut block),
            "tool_use" => tool_use(&mut block, "input", ToolUseForm::Input),
            "tool_call" => tool_use(&mut block, "args", ToolUseForm::Args),
            "reasoning" => reasoning(&mut block, "reasoning", ReasoningForm::Reasoning),
            "thinking" => reasoning(&mut block, "thinking", ReasoningForm::Thinking),
            _ => None,
        };
        match read {
            None => Self::Other(block),
            Some(mut read) => {
                block.remove("type");
                match &mut read {
                    Self::Text(TextBlock { extra, .. })
                    | Self::Image(ImageBlock { extra, .. })
                    | Self::ToolUse(ToolUseBlock { extra, .. })
                    | Self::Reasoning(ReasoningBlock { extra, .. })
                    | Self::Other(extra) => *extra = block,
                }
                read
            }
        }
    }

    /// The block as JSON.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Text(block) => object(json!({"type": "text", "text": block.text}), &block.extra),
            Self::Image(block) => block.to_json(),
            Self::ToolUse(ToolUseBlock { id, name, input, extra, form }) => object(
                match form {
                    ToolUseForm::Input => json!({"type": "tool_use", "id": id, "name": name, "input": input}),
                    ToolUseForm::Args => json!({"type": "tool_call", "id": id, "name": name, "args": input}),
                },
                extra,
            ),
            Self::Reasoning(ReasoningBlock { text, signature, extra, form }) => {
                let mut value = match form {
                    ReasoningForm::Reasoning => json!({"type": "reasoning", "reasoning": text}),
                    ReasoningForm::Thinking => json!({"type": "thinking", "thinking": text}),
                };
                if let (Some(signature), Some(object)) = (signature, value.as_object_mut()) {
                    object.insert("signature".to_owned(), signature.as_str().into());
                }
                object(value, extra)
            }
            Self::Other(block) => Value::Object(block.clone()),
        }
    }
}

impl ToolUseBlock {
    /// A call of a tool.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: impl Into<Value>) -> Self {
        Self { id: id.into(), name: name.into(), input: input.into(), ..Self::default() }
    }
}

impl ImageBlock {
    /// How closely the model is to look at it.
    pub fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }

    fn to_json(&self) -> Value {
        let Self { source, detail, extra, form } = self;
        let mut value = match (form, source) {
            (ImageForm::BareUrl, ImageSource::Url(url)) if detail.is_none() => {
                json!({"type": "image_url", "image_url": url})
            }
            (ImageForm::Url | ImageForm::BareUrl, ImageSource::Url(url)) => {
                let mut inner = json!({"url": url});
                if let (Some(detail), Some(inner)) = (detail, inner.as_object_mut()) {
                    inner.insert("detail".to_owned(), detail.as_str().into());
                }
                json!({"type": "image_url", "image_url": inner})
            }
            (ImageForm::Source, source) => {
                let inner = match source {
                    ImageSource::Url(url) => json!({"type": "url", "url": url}),
                    ImageSource::Base64 { media_type, data } => {
                        json!({"type": "base64", "media_type": media_type, "data": data})
                    }
                    ImageSource::File(id) => json!({"type": "file", "file_id": id}),
                };
                json!({"type": "image", "source": inner})
            }
            (_, ImageSource::Url(url)) => json!({"type": "image", "url": url}),
            (_, ImageSource::Base64 { media_type, data }) => {
                json!({"type": "image", "base64": data, "mime_type": media_type})
            }
            (_, ImageSource::File(id)) => json!({"type": "image", "file_id": id}),
        };
        let in_url = matches!(form, ImageForm::Url | ImageForm::BareUrl);
        if let (Some(detail), false, Some(value)) = (detail, in_url, value.as_object_mut()) {
            value.insert("detail".to_owned(), detail.as_str().into());
        }
        object(value, extra)
    }
}

fn take(block: &mut Map<String, Value>, key: &str) -> Option<String> {
    if !block.get(key)?.is_string() {
        return None;
    }
    match block.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// `{"url": ..}` and nothing else but `detail`, or a bare address.
fn image_url(block: &mut Map<String, Value>) -> Option<Block> {
    if let Some(url) = take(block, "image_url") {
        return Some(Block::image(ImageSource::Url(url), ImageForm::BareUrl));
    }
    let inner = block.get("image_url")?.as_object()?;
    let url = inner.get("url")?.as_str()?.to_owned();
    let detail = inner.get("detail").map(Value::as_str);
    if inner.len() != 1 + usize::from(detail.is_some()) || detail == Some(None) {
        return None;
    }
    let detail = detail.flatten().map(str::to_owned);
    block.remove("image_url");
    Some(Block::Image(ImageBlock {
        source: ImageSource::Url(url),
        detail,
        extra: Map::new(),
        form: ImageForm::Url,
    }))
}

fn image(block: &mut Map<String, Value>) -> Option<Block> {
    if let Some(source) = block.get("source") {
        let source = source.as_object()?;
        let text = |key: &str| source.get(key)?.as_str().map(str::to_owned);
        let (read, known) = match source.get("type")?.as_str()? {
            "base64" => (ImageSource::Base64 { media_type: text("media_type")?, data: text("data")? }, 3),
            "url" => (ImageSource::Url(text("url")?), 2),
            "file" => (ImageSource::File(text("file_id")?), 2),
            _ => return None,
        };
        if source.len() != known {
            return None;
        }
        block.remove("source");
        return Some(Block::image(read, ImageForm::Source));
    }
    let places = ["url", "base64", "file_id"].iter().filter(|key| block.contains_key(**key)).count();
    if places != 1 || block.contains_key("source_type") {
        return None;
    }
    let source = if let Some(url) = take(block, "url") {
        ImageSource::Url(url)
    } else if let Some(id) = take(block, "file_id") {
        ImageSource::File(id)
    } else {
        block.get("base64")?.as_str()?;
        let media_type = take(block, "mime_type")?;
        ImageSource::Base64 { media_type, data: take(block, "base64")? }
    };
    Some(Block::image(source, ImageForm::Flat))
}

fn tool_use(block: &mut Map<String, Value>, input: &str, form: ToolUseForm) -> Option<Block> {
    let text = |key: &str| block.get(key)?.as_str().map(str::to_owned);
    let (id, name) = (text("id")?, text("name")?);
    let input = block.remove(input)?;
    block.remove("id");
    block.remove("name");
    Some(Block::ToolUse(ToolUseBlock { id, name, input, extra: Map::new(), form }))
}

fn reasoning(block: &mut Map<String, Value>, key: &str, form: ReasoningForm) -> Option<Block> {
    let text = take(block, key)?;
    let signature = take(block, "signature");
    Some(Block::Reasoning(ReasoningBlock { text, signature, extra: Map::new(), form }))
}

fn object(mut value: Value, extra: &Map<String, Value>) -> Value {
    if let Some(object) = value.as_object_mut() {
        object.extend(extra.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    value
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self::text_of(text)),
            Value::Object(block) => Ok(Self::of(block)),
            other => Err(D::Error::custom(format!("expected a block of content or a text, found `{other}`"))),
        }
    }
}

impl From<&str> for Block {
    fn from(text: &str) -> Self {
        Self::text_of(text)
    }
}

impl From<String> for Block {
    fn from(text: String) -> Self {
        Self::text_of(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(block: Value, is: impl Fn(&Block) -> bool) {
        let read: Block = serde_json::from_value(block.clone()).unwrap();
        assert!(is(&read), "{read:?}");
        assert_eq!(serde_json::to_value(&read).unwrap(), block);
    }

    #[test]
    fn a_block_is_written_in_the_form_in_which_it_was_read() {
        check(json!({"type": "text", "text": "a", "annotations": []}), |block| block.text() == Some("a"));
        let is_image = |block: &Block| matches!(block, Block::Image(_));
        check(json!({"type": "image_url", "image_url": {"url": "u", "detail": "low"}}), is_image);
        check(json!({"type": "image_url", "image_url": "u"}), is_image);
        check(json!({"type": "image", "url": "u", "id": "x"}), is_image);
        check(json!({"type": "image", "base64": "AA==", "mime_type": "image/png"}), is_image);
        check(json!({"type": "image", "file_id": "f"}), is_image);
        let base64 = json!({"type": "base64", "media_type": "image/png", "data": "AA=="});
        check(json!({"type": "image", "source": base64, "cache_control": {"type": "ephemeral"}}), is_image);
        check(json!({"type": "image", "source": {"type": "url", "url": "u"}}), is_image);
        let is_call = |block: &Block| matches!(block, Block::ToolUse(call) if call.input == json!({"a": 1}));
        check(json!({"type": "tool_use", "id": "c", "name": "n", "input": {"a": 1}, "index": 0}), is_call);
        check(json!({"type": "tool_call", "id": "c", "name": "n", "args": {"a": 1}}), is_call);
        let is_thought = |block: &Block| matches!(block, Block::Reasoning(thought) if thought.text == "hm");
        check(json!({"type": "thinking", "thinking": "hm", "signature": "s"}), is_thought);
        check(json!({"type": "reasoning", "reasoning": "hm"}), is_thought);
    }

    #[test]
    fn what_is_not_known_is_kept_as_it_is() {
        let is_other = |block: &Block| matches!(block, Block::Other(_));
        check(json!({"type": "redacted_thinking", "data": "x"}), is_other);
        check(json!({"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}), is_other);
        check(json!({"no": "type"}), is_other);
        // Of a known type, but not in a known form.
        check(json!({"type": "text", "text": 3}), is_other);
        check(
            json!({"type": "image", "source_type": "base64", "data": "", "mime_type": "image/png"}),
            is_other,
        );
        check(json!({"type": "image_url", "image_url": {"url": "u", "more": 1}}), is_other);
        check(json!({"type": "image", "source": {"type": "base64", "data": ""}}), is_other);
        check(json!({"type": "tool_use", "id": null, "name": "n", "input": {}}), is_other);
        check(json!({"type": "reasoning", "summary": []}), is_other);
    }
}
