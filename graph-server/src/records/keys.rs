//! The namespaces and keys of the records. Nothing else knows them.

use sha2::{Digest as _, Sha256};
use superstep::store::Namespace;

use crate::protocol::{AssistantId, RunId, ThreadId, Timestamp};

/// The first segment of every namespace of the server. It sorts after all that applications use, so that a list of
/// all items ends where the records of the server begin.
pub(crate) const RESERVED: &str = "\u{10ffff}superstep-server";

/// A namespace of records.
fn records(name: &str) -> Namespace {
    Namespace::from([RESERVED, name])
}

/// Threads by id.
pub(super) fn threads() -> Namespace {
    records("thread")
}

/// Threads by the time of the last change, newest first.
pub(super) fn threads_by_update() -> Namespace {
    records("thread-updated")
}

/// Threads by the time of creation, newest first.
pub(super) fn threads_by_creation() -> Namespace {
    records("thread-created")
}

/// Ends of times to live, soonest first.
pub(super) fn expirations() -> Namespace {
    records("thread-expires")
}

/// The runs of a thread, newest first.
pub(super) fn runs(thread: ThreadId) -> Namespace {
    Namespace::from([RESERVED, "run", &thread.to_string()])
}

/// The tasks of a thread by the run that has begun them.
pub(super) fn tasks(thread: ThreadId) -> Namespace {
    Namespace::from([RESERVED, "task", &thread.to_string()])
}

/// The places of the tasks of an assistant, those of the last changes first.
pub(super) fn tasks_by_update(assistant: AssistantId) -> Namespace {
    Namespace::from([RESERVED, "task-updated", &assistant.to_string()])
}

/// The places of the tasks of an assistant in a thread, those of the last changes first.
pub(super) fn tasks_of_thread(assistant: AssistantId, thread: ThreadId) -> Namespace {
    Namespace::from([RESERVED, "task-thread", &assistant.to_string(), &thread.to_string()])
}

/// The places of the tasks of an assistant that belong to an identity, those of the last changes first.
pub(super) fn tasks_of_owner(assistant: AssistantId, owner: &str) -> Namespace {
    // An identity may be longer than a segment.
    let digest: String = Sha256::digest(owner).iter().map(|byte| format!("{byte:02x}")).collect();
    Namespace::from([RESERVED, "task-owner", &assistant.to_string(), &digest])
}

/// The runs that have not ended, oldest first.
pub(super) fn open_runs() -> Namespace {
    records("run-open")
}

/// Results to send, soonest first.
pub(super) fn webhooks() -> Namespace {
    records("webhook")
}

/// Crons by id.
pub(super) fn crons() -> Namespace {
    records("cron")
}

/// Crons by the time of the next run, soonest first.
pub(super) fn crons_by_time() -> Namespace {
    records("cron-due")
}

/// Assistants by id.
pub(super) fn assistants() -> Namespace {
    records("assistant")
}

/// Assistants by the time of creation, newest first.
pub(super) fn assistants_by_creation() -> Namespace {
    records("assistant-created")
}

/// The versions of an assistant, newest first.
pub(super) fn versions(assistant: AssistantId) -> Namespace {
    Namespace::from([RESERVED, "assistant-version", &assistant.to_string()])
}

/// A key that sorts newest first.
pub(super) fn newest_first(time: Timestamp, id: impl std::fmt::Display) -> String {
    format!("{:016x}:{id}", u64::MAX - time.micros())
}

/// A key that sorts oldest first.
pub(super) fn oldest_first(time: Timestamp, id: impl std::fmt::Display) -> String {
    format!("{:016x}:{id}", time.micros())
}

/// The key of a run among the runs of its thread. Ids of runs sort by time.
pub(super) fn run(id: RunId) -> String {
    format!("{:032x}", u128::MAX - id.0.as_u128())
}

/// The key of a version.
pub(super) fn version(version: u64) -> String {
    format!("{:016x}", u64::MAX - version)
}
