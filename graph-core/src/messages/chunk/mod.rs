//! The pieces of a reply, and the message that they make.

mod assembler;
mod merge;
mod message_chunk;
#[cfg(test)]
mod tests;

pub use assembler::MessageAssembler;
pub use message_chunk::{BlockChunk, MessageChunk, ToolCallChunk};
