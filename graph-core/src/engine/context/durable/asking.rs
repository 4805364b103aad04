//! Questions of any type: their ids, their answers, and the open interrupts of a task.

use std::task::Waker;

use serde_json::Value;

use crate::engine::context::context::Context;
use crate::error::{Error, ErrorKind, NodeFailure};
use crate::interrupt::{
    EarlierForm, EarlierForms, OpenInterrupt, QuestionType, is_same_question, valid_answer,
};
use crate::limits::MAX_KEY_BYTES;
use crate::payload::{Unstorable, to_payload};
use crate::state::MigrationError;

use super::ids::Which;
use super::sleep::Wake;
use super::task_memory::Answered;
use super::{Sleep, ids};

/// The result of asking.
pub(super) enum Asked<A> {
    Answer(A),
    /// There is an answer, and it is not its turn.
    Blocked,
    Open,
}

/// The part of an [`Interrupt`] that does not depend on the type of its question.
pub(super) struct Asking<'c> {
    pub(super) cx: &'c Context,
    pub(super) of: &'static QuestionType,
    /// Its number among the attempt's questions of this type; not used with a key.
    pub(super) nth: usize,
    pub(super) key: Option<String>,
    pub(super) id: String,
    /// Its position among the attempt's questions and sleeps.
    pub(super) place: usize,
}

impl<'c> Asking<'c> {
    pub(super) fn new(cx: &'c Context, of: &'static QuestionType) -> Self {
        let (scratch, name) = (cx.scratch(), (of.name)());
        let nth = scratch.take_number(name);
        let id = ids::question(&scratch.task, name, Which::Nth(nth));
        Self { cx, of, nth, key: None, id, place: scratch.place() }
    }

    pub(super) fn name(&self) -> &'static str {
        (self.of.name)()
    }

    /// Asks for the answer, and returns it with the question. Any problem with either fails the attempt.
    pub(super) fn ask(
        &self,
        question: &dyn Fn() -> Result<Value, Unstorable>,
        waker: &Waker,
    ) -> Asked<(Value, Value)> {
        let (scratch, name) = (self.cx.scratch(), self.name());
        if scratch.is_in_step() {
            scratch.fail(AskError::InStep { name }.into());
            return Asked::Open;
        }
        if self.id.len() > MAX_KEY_BYTES {
            scratch.fail(AskError::LongId { name, length: self.id.len() }.into());
            return Asked::Open;
        }
        let question = match question() {
            Ok(question) => question,
            Err(unstorable) => {
                let reason = unstorable.to_string();
                scratch.fail(AskError::Unstorable { name, reason }.into());
                return Asked::Open;
            }
        };
        let answer = match self.cx.answer_to(self.of, &self.id, &question) {
            Err(reason) => {
                scratch.fail(AskError::Outdated { name, id: self.id.clone(), reason }.into());
                return Asked::Open;
            }
            Ok(Some(_)) if !self.cx.is_next(&self.id) => {
                scratch.block(&scratch.uncounted(waker));
                return Asked::Blocked;
            }
            Ok(answer) => {
                // Without an answer to the question as it is asked now, an earlier one is outdated.
                self.cx.settle_answer(&self.id);
                answer
            }
        };
        let Some(answer) = answer.or_else(|| self.cx.scripted(name)) else {
            let open = self.to_open(question);
            if let Some(Err(unstorable)) = open.answer_schema.as_ref().map(to_payload) {
                let reason = format!("has an answer schema that {unstorable}");
                scratch.fail(AskError::Unstorable { name, reason }.into());
                return Asked::Open;
            }
            scratch.open(self.place, open);
            return Asked::Open;
        };
        Asked::Answer((question, answer))
    }

    /// Drops an answer that cannot be read, and opens the question again.
    pub(super) fn ask_again(&self, question: Value, reason: String) {
        let scratch = self.cx.scratch();
        self.cx.memory(|memory| memory.answers.remove(&self.id));
        scratch.reopen(self.to_open(question));
        scratch.fail(AskError::Answer { name: self.name(), id: self.id.clone(), reason }.into());
    }

    /// Closes the interrupt without an answer.
    pub(super) fn withdraw(&self) {
        self.cx.scratch().withdraw(self.place);
    }

    /// Releases the key of a question that was not answered, so that it can be asked again.
    pub(super) fn release(&self) {
        if self.key.is_some() {
            self.cx.scratch().release_key(&self.id);
        }
    }

    /// Creates the timer of the question's deadline, and returns its id.
    pub(super) fn deadline(&self, wake: Wake) -> (String, Sleep<'c>) {
        let scratch = self.cx.scratch();
        let question = self.id.strip_prefix(&*scratch.task).unwrap_or(&self.id).trim_start_matches('/');
        let id = ids::deadline(question, scratch.nth_deadline(question));
        (id.clone(), Sleep::of_deadline(self.cx, id, wake))
    }

    /// Notes the time of the timer in the open question.
    pub(super) fn expires(&self, deadline: &str) {
        self.cx.scratch().expires(self.place, &self.id, self.cx.timer_end(deadline));
    }

    /// Identifies the question by a key instead of its number.
    pub(super) fn set_key(&mut self, key: &str) {
        let (scratch, name) = (self.cx.scratch(), self.name());
        match self.key {
            None => scratch.release_number(name, self.nth),
            Some(_) => scratch.release_key(&self.id),
        }
        self.id = ids::question(&scratch.task, name, Which::Key(key));
        if !scratch.key(&self.id) {
            scratch.fail(AskError::KeyTwice { name, key: key.to_owned() }.into());
        }
        self.key = Some(key.to_owned());
    }

    pub(super) fn to_open(&self, question: Value) -> OpenInterrupt {
        let earlier = self.earlier_forms(&question);
        OpenInterrupt {
            id: self.id.clone(),
            node: self.cx.node().to_owned(),
            task: self.cx.at.task(),
            name: self.name().to_owned(),
            key: self.key.clone(),
            question,
            version: self.of.version,
            answer_schema: (self.of.answer_schema)(),
            namespace: Vec::new(),
            expires_at: None,
            earlier,
        }
    }

    /// Returns the other forms in which the question was open before, if they ask the same.
    pub(super) fn earlier_forms(&self, asked: &Value) -> EarlierForms {
        let open = self.cx.memory(|memory| memory.restored.get(&self.id).cloned());
        let Some(open) = open else { return EarlierForms::default() };
        let is_same = |form: &EarlierForm| {
            (form.version != self.of.version || form.question != *asked)
                && is_same_question(self.of, (&form.question, form.version), asked).unwrap_or(false)
        };
        EarlierForms(open.into_forms().filter(is_same).collect())
    }
}

impl Context {
    /// Returns the stored answer, if it answers the question as it is asked now.
    fn answer_to(&self, of: &QuestionType, id: &str, asked: &Value) -> Result<Option<Value>, MigrationError> {
        let own = self.memory(|memory| memory.answers.get(id).cloned());
        // The answer may have arrived through the parent run, whose subgraph call begins again.
        for answered in own.iter().chain(self.shared.parent_run.answers.get(id)) {
            let Answered { question, answer, versions } = answered;
            let valid = valid_answer(of, (question, versions.0), (answer, versions.1), asked)?;
            if valid.is_some() {
                return Ok(valid);
            }
        }
        Ok(None)
    }
}

/// A problem with a question or its answer.
#[derive(Debug, thiserror::Error)]
enum AskError {
    #[error(
        "question `{name}` is asked inside a durable step, which cannot be suspended: ask it before or after the step"
    )]
    InStep { name: &'static str },
    #[error("two questions `{name}` have the key `{key}`: give each its own")]
    KeyTwice { name: &'static str, key: String },
    #[error(
        "question `{name}` has an id of {length} bytes, but at most {MAX_KEY_BYTES} can be stored: ask it with a shorter key"
    )]
    LongId { name: &'static str, length: usize },
    #[error("question `{name}` {reason}")]
    Unstorable { name: &'static str, reason: String },
    #[error(
        "the stored answer to question `{name}` (`{id}`) cannot be used by this version of the program: {reason}; the answer \
         stays stored for a version that can"
    )]
    Outdated { name: &'static str, id: String, reason: MigrationError },
    #[error("the answer to question `{name}` (`{id}`) cannot be read: {reason}; the question is open again")]
    Answer { name: &'static str, id: String, reason: String },
}

/// Returns `true` if the task failed only because an answer could not be read. It waits for another answer then.
pub(crate) fn waits_again(failure: &NodeFailure) -> bool {
    if failure.handled.is_some() {
        return false;
    }
    match failure.error.downcast_ref::<AskError>() {
        Some(error) => matches!(error, AskError::Answer { .. }),
        // The failure of a subgraph call.
        None => failure.error.downcast_ref::<Error>().is_some_and(|error| wait_again(error.kind())),
    }
}

/// Returns `true` if a superstep failed only because answers could not be read.
pub(crate) fn wait_again(error: &ErrorKind) -> bool {
    match error {
        ErrorKind::Node { first, others } => std::iter::once(&**first).chain(others).all(waits_again),
        _ => false,
    }
}
