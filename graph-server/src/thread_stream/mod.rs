//! The events of a thread, over all its runs: a buffer for each thread, its readers, and their filters.

mod channel;
mod event_filter;
mod registry;
mod thread_event;
mod thread_log;
mod thread_reader;

pub(crate) use channel::{Channel, ChannelName};
pub(crate) use event_filter::{EventFilter, Subscription};
pub(crate) use registry::{ThreadStreams, ThreadUse};
pub(crate) use thread_event::{NewEvent, ThreadEvent};
pub(crate) use thread_log::ThreadBatch;
pub(crate) use thread_reader::ThreadReader;
