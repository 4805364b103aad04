//! The stored forms of a plan, of task results, questions, failures and stops.

mod breakpoints;
mod corrupt;
mod field_changes;
mod given_answer;
mod joins;
mod json;
mod keys;
mod program;
pub(crate) mod progress;
mod question;
mod records;
mod resets;
mod stopped;
mod stored_command;
mod stored_failure;
mod stored_finish;
mod stored_request;
mod stored_size;
mod stored_task;
mod task_changes;
mod unplanned;

pub(crate) use breakpoints::{StoredBreakpoints, read_breakpoints};
pub(crate) use corrupt::{corrupt, outdated};
pub(crate) use field_changes::{FieldChanges, NotStored, encode};
pub(crate) use given_answer::{GivenAnswer, RefusedAnswer, check_answers};
pub(crate) use joins::begun_joins;
pub(crate) use json::{json_payload, json_record, reason};
pub(crate) use keys::{
    after_ordinal, is_delta, key, ordinal, parse_write_key, place, step_number, write_key,
};
pub(crate) use program::Program;
pub(crate) use progress::{
    Provenance, START, answers_at_first, entering, keeping, moved, parent_task, planned_at, read_task,
    shares_state, shown_packets,
};
pub(crate) use question::{QuestionPlace, StoredQuestion};
pub(crate) use records::{ReadWrites, decode_writes, finished_records, write_records};
pub(crate) use resets::{Resets, StoredResets};
pub(crate) use stopped::{Stopped, read_stopped};
pub(crate) use stored_command::{StoredCommand, UnreadableCommand};
pub(crate) use stored_failure::StoredFailure;
pub(crate) use stored_finish::StoredFinish;
pub(crate) use stored_request::{StoredRequest, is_accepted_later, requested_run};
pub(crate) use stored_size::StoredSize;
pub(crate) use stored_task::StoredTask;
pub(crate) use task_changes::{ChangesByField, TaskChanges, without_authors};
pub(crate) use unplanned::{Unplanned, unplanned_kind};
