use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::Block;

/// The content of a message: a string, or blocks of text, images and other parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// A string, which may be empty.
    Text(String),
    /// Blocks in order.
    Blocks(Vec<Block>),
}

impl Content {
    /// Returns the text: the string, or the concatenated text blocks.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Blocks(blocks) => {
                let mut texts = blocks.iter().filter_map(Block::text);
                match (texts.next(), texts.next()) {
                    (None, _) => Cow::Borrowed(""),
                    (Some(only), None) => Cow::Borrowed(only),
                    (Some(first), Some(second)) => {
                        Cow::Owned([first, second].into_iter().chain(texts).collect())
                    }
                }
            }
        }
    }

    /// Returns the blocks. A string has none.
    pub fn blocks(&self) -> &[Block] {
        match self {
            Self::Text(_) => &[],
            Self::Blocks(blocks) => blocks,
        }
    }

    /// Returns `true` if the content is an empty string or an empty list.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Blocks(blocks) => blocks.is_empty(),
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Vec<Block>> for Content {
    fn from(blocks: Vec<Block>) -> Self {
        Self::Blocks(blocks)
    }
}

impl<const N: usize> From<[Block; N]> for Content {
    fn from(blocks: [Block; N]) -> Self {
        Self::Blocks(blocks.into())
    }
}

impl PartialEq<str> for Content {
    fn eq(&self, text: &str) -> bool {
        matches!(self, Self::Text(own) if own == text)
    }
}

impl PartialEq<&str> for Content {
    fn eq(&self, text: &&str) -> bool {
        *self == **text
    }
}

/// The accepted JSON forms of content.
#[derive(Deserialize)]
#[serde(untagged, expecting = "the content of a message: a string or a list of blocks")]
enum Read {
    Text(String),
    Blocks(Vec<serde_json::Value>),
    Nothing(()),
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Read::deserialize(deserializer)? {
            Read::Text(text) => Self::Text(text),
            Read::Nothing(()) => Self::default(),
            Read::Blocks(blocks) => {
                let blocks: Result<_, _> = blocks.into_iter().map(serde_json::from_value).collect();
                Self::Blocks(blocks.map_err(serde::de::Error::custom)?)
            }
        })
    }
}
