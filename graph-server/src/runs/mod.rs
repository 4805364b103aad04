//! Runs: accepting them, their queue on each thread, executing and cancelling them, and continuing them after a restart.

mod accept;
mod attachment;
mod cancel;
mod dispatch;
mod execute;
mod finish;
mod job;
mod live_run;
mod outcome;
mod position;
mod recover;
mod registry;
mod replay;
mod request;
mod shown;
mod thread_queue;

#[cfg(test)]
mod tests;

pub(crate) use accept::{Accepted, NewRun, RunThread, accept, check, find_assistant, no_thread};
pub(crate) use attachment::Attachment;
pub(crate) use cancel::{cancel, cancel_all, stop_all};
pub(crate) use dispatch::hold;
pub(crate) use live_run::LiveRun;
pub(crate) use outcome::RunOutcome;
pub(crate) use recover::recover;
pub(crate) use registry::Runs;
pub(crate) use replay::{Replay, replay_ended, replay_live};
pub(crate) use shown::{hide, shown};
