use serde_json::{Map, Value, json};

use super::{Block, object, take};

/// An image block.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImageBlock {
    /// The source of the image.
    pub source: ImageSource,
    /// The level of detail, for providers that support it.
    pub detail: Option<String>,
    /// All other fields.
    pub extra: Map<String, Value>,
    form: Form,
}

/// The source of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageSource {
    /// A URL, which may be a `data:` URL.
    Url(String),
    /// Base64 data in the message.
    Base64 {
        /// The media type, such as `image/png`.
        media_type: String,
        /// The base64 data.
        data: String,
    },
    /// The id of a file at the provider.
    File(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// `{"type": "image_url", "image_url": {"url": ..}}`
    #[default]
    Url,
    /// `{"type": "image_url", "image_url": ".."}`
    BareUrl,
    /// `{"type": "image", "source": {"type": "base64", ..}}`
    Source,
    /// `{"type": "image", "source_type": "base64", ..}`
    SourceType,
    /// `{"type": "image", "url": ..}`, `{"type": "image", "base64": ..}`
    Flat,
}

impl ImageBlock {
    pub(super) fn at(url: String) -> Self {
        Self::new(ImageSource::Url(url), Form::Url)
    }

    pub(super) fn here(media_type: String, data: String) -> Self {
        Self::new(ImageSource::Base64 { media_type, data }, Form::Flat)
    }

    fn new(source: ImageSource, form: Form) -> Self {
        Self { source, detail: None, extra: Map::new(), form }
    }

    /// Sets the level of detail.
    pub fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }

    /// Returns `true` if the block was read in the format of chat endpoints, which then accept its other fields.
    pub(in crate::messages) fn is_of_chat(&self) -> bool {
        matches!(self.form, Form::Url | Form::BareUrl)
    }

    pub(super) fn to_json(&self) -> Value {
        let Self { source, detail, extra, form } = self;
        let mut value = match (form, source) {
            (Form::BareUrl, ImageSource::Url(url)) if detail.is_none() => {
                json!({"type": "image_url", "image_url": url})
            }
            (Form::Url | Form::BareUrl, ImageSource::Url(url)) => {
                let mut inner = json!({"url": url});
                if let (Some(detail), Some(inner)) = (detail, inner.as_object_mut()) {
                    inner.insert("detail".to_owned(), detail.as_str().into());
                }
                return object(json!({"type": "image_url", "image_url": inner}), extra);
            }
            (Form::Source, source) => {
                let inner = match source {
                    ImageSource::Url(url) => json!({"type": "url", "url": url}),
                    ImageSource::Base64 { media_type, data } => {
                        json!({"type": "base64", "media_type": media_type, "data": data})
                    }
                    ImageSource::File(id) => json!({"type": "file", "file_id": id}),
                };
                json!({"type": "image", "source": inner})
            }
            (Form::SourceType, ImageSource::Url(url)) => {
                json!({"type": "image", "source_type": "url", "url": url})
            }
            (Form::SourceType, ImageSource::Base64 { media_type, data }) => {
                json!({"type": "image", "source_type": "base64", "data": data, "mime_type": media_type})
            }
            (Form::SourceType, ImageSource::File(id)) => {
                json!({"type": "image", "source_type": "id", "id": id})
            }
            (_, ImageSource::Url(url)) => json!({"type": "image", "url": url}),
            (_, ImageSource::Base64 { media_type, data }) => {
                json!({"type": "image", "base64": data, "mime_type": media_type})
            }
            (_, ImageSource::File(id)) => json!({"type": "image", "file_id": id}),
        };
        if let (Some(detail), Some(value)) = (detail, value.as_object_mut()) {
            value.insert("detail".to_owned(), detail.as_str().into());
        }
        object(value, extra)
    }
}

/// Reads `{"url": ..}` with an optional `detail`, or a bare URL.
pub(super) fn read_url(block: &mut Map<String, Value>) -> Option<Block> {
    if let Some(url) = take(block, "image_url") {
        return Some(Block::Image(ImageBlock::new(ImageSource::Url(url), Form::BareUrl)));
    }
    let inner = block.get("image_url")?.as_object()?;
    let url = inner.get("url")?.as_str()?.to_owned();
    let detail = inner.get("detail").map(Value::as_str);
    if inner.len() != 1 + usize::from(detail.is_some()) || detail == Some(None) {
        return None;
    }
    let detail = detail.flatten().map(str::to_owned);
    block.remove("image_url");
    Some(Block::Image(ImageBlock { detail, ..ImageBlock::at(url) }))
}

pub(super) fn read(block: &mut Map<String, Value>) -> Option<Block> {
    let (source, form) = if block.contains_key("source") {
        (sourced(block)?, Form::Source)
    } else if block.contains_key("source_type") {
        (typed(block)?, Form::SourceType)
    } else {
        (flat(block)?, Form::Flat)
    };
    Some(Block::Image(ImageBlock::new(source, form)))
}

fn sourced(block: &mut Map<String, Value>) -> Option<ImageSource> {
    let source = block.get("source")?.as_object()?;
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
    Some(read)
}

fn typed(block: &mut Map<String, Value>) -> Option<ImageSource> {
    let text = |key: &str| block.get(key)?.as_str().map(str::to_owned);
    let (read, known) = match block.get("source_type")?.as_str()? {
        "base64" => (
            ImageSource::Base64 { media_type: text("mime_type")?, data: text("data")? },
            ["data", "mime_type"],
        ),
        "url" => (ImageSource::Url(text("url")?), ["url"; 2]),
        "id" => (ImageSource::File(text("id")?), ["id"; 2]),
        _ => return None,
    };
    block.remove("source_type");
    for key in known {
        block.remove(key);
    }
    Some(read)
}

fn flat(block: &mut Map<String, Value>) -> Option<ImageSource> {
    let places = ["url", "base64", "file_id"].iter().filter(|key| block.contains_key(**key)).count();
    if places != 1 {
        return None;
    }
    if let Some(url) = take(block, "url") {
        return Some(ImageSource::Url(url));
    }
    if let Some(id) = take(block, "file_id") {
        return Some(ImageSource::File(id));
    }
    block.get("base64")?.as_str()?;
    let media_type = take(block, "mime_type")?;
    Some(ImageSource::Base64 { media_type, data: take(block, "base64")? })
}
