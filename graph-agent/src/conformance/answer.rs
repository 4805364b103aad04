use std::time::Duration;

use superstep::messages::AiMessage;

/// The answer of a provider to every request of a case: complete, or streamed if the request asks for a stream.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The reply, which the provider sends in its own format. Ids of messages and metadata may differ.
    pub reply: AiMessage,
    /// The way in which the reply arrives.
    pub delivery: Delivery,
}

/// The way in which a reply arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// The whole reply. A stream has several pieces of each text and of the arguments of each call, and the pieces of several
    /// calls are interleaved.
    Whole,
    /// As [`Whole`](Self::Whole). A stream also has empty pieces, in all forms in which the provider sends them.
    EmptyPieces,
    /// As [`Whole`](Self::Whole), in network packets of this number of bytes.
    Packets(usize),
    /// The first half of the reply. Then the connection is closed as if the reply were complete.
    CutOff,
    /// The beginning of the reply, in a stream at least one piece of its text. Then nothing, over an open connection.
    Silence,
    /// A refusal with status 429 that asks for a wait of this length.
    Refusal {
        /// The wait, in whole seconds.
        retry_after: Duration,
    },
}

impl Answer {
    pub(crate) fn new(reply: AiMessage, delivery: Delivery) -> Self {
        Self { reply, delivery }
    }
}
