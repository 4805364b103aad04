use std::future::pending;

use crate::engine::Driver;
use crate::engine::cx::Context;
use crate::engine::desk::Answered;
use crate::engine::erased::TaskWrites;
use crate::engine::persist::call_on_thread;
use crate::error::ErrorKind;
use crate::node::NodeError;

use super::call::{Call, Came, Kept};
use super::memory::{Begun, begin_call};
use super::place::Place;

/// Runs a subgraph inside a task. Begins the call, or continues it from where an earlier attempt of the task left it.
///
/// While the call waits for answers, its task is suspended. The task takes over the call's open interrupts with their
/// ids.
///
/// # Cancel safety
/// Finished work of the call is kept: on the thread if the call is stored, otherwise in the data that the task keeps
/// between attempts.
pub(crate) async fn visit(call: Call<'_>, cx: &Context) -> Result<Came, NodeError> {
    let place = Place::of(&call, cx)?;
    let host = cx.shared.nest.host.as_ref().filter(|_| call.kept != Kept::Nothing);
    let (begun, kept) = match host {
        Some(host) => (call_on_thread(&call, &place, cx, host).await?, None),
        None => match in_memory(&call, &place, cx)? {
            InMemory::Begun(begun) => (*begun, Some((cx, place.task.clone()))),
            InMemory::Came(came) => return Ok(came),
        },
    };
    let mut visit = Visit { begun: Some(begun), kept };
    let Some(Begun { driver, .. }) = &mut visit.begun else { return Err(Lost.into()) };
    // In a later attempt of the task, this stream has shown the results of the attempt before it.
    let restored =
        driver.events.is_some() && !cx.memo(|memo| std::mem::replace(&mut memo.has_shown_call, true));
    driver.announce(restored).await;
    let spans = driver.spans.clone();
    while driver.said.is_empty() {
        let stepped = spans.around(driver.step()).await;
        spans.stepped(&stepped, driver.halts());
        match stepped {
            Ok(true) => cx.heartbeat(),
            Ok(false) if driver.halts() => {
                hand_on(driver, cx);
                drop(visit);
                return pending().await;
            }
            Ok(false) => break,
            // The parent run is cancelled too, and drops this call.
            Err(error) if matches!(error.kind(), ErrorKind::Cancelled { .. }) => {
                drop(visit);
                return pending().await;
            }
            Err(error) => {
                reopen(driver, cx);
                return Err(error.into());
            }
        }
    }
    let kept = visit.kept.take();
    let Some(Begun { mut driver, state: begun, lease: _lease }) = visit.begun.take() else {
        return Err(Lost.into());
    };
    driver.conclude_call(&call.kept).await?;
    let returned = driver.returned.take();
    let update = match returned {
        Some(returned) => returned.into_update(&*driver.state)?,
        None => TaskWrites::default(),
    };
    let said = std::mem::take(&mut driver.said);
    let came = Came { state: driver.into_state(), begun, update, said };
    // The parent node may fail to use the result, and run again. A call on a thread is complete by then; a call in
    // memory is kept for nodes with a policy.
    if let Some((cx, task)) = kept
        && cx.memo(|memo| memo.tries.attempt > 0)
    {
        cx.lay_aside(task, Box::new(InMemory::Came(came.again())));
    }
    Ok(came)
}

/// The state of a subgraph call was taken twice. Only the call itself takes it, so this is a bug.
#[derive(Debug, thiserror::Error)]
#[error("internal error: the state of the subgraph call was lost; please report this")]
struct Lost;

/// A subgraph call in progress. When it is dropped and not stored, it is kept for the task's next attempt.
struct Visit<'c> {
    begun: Option<Begun>,
    /// The context and the id of the task; only for a call that is not stored.
    kept: Option<(&'c Context, String)>,
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        // After a panic inside the engine, the call cannot be continued.
        if std::thread::panicking() {
            return;
        }
        if let (Some(begun), Some((cx, task))) = (self.begun.take(), self.kept.take()) {
            cx.lay_aside(task, Box::new(InMemory::Begun(Box::new(begun))));
        }
    }
}

/// A call that is not stored.
enum InMemory {
    Begun(Box<Begun>),
    /// The call has ended in an earlier attempt.
    Came(Came),
}

/// Takes the call that an earlier attempt has kept, or begins a new one.
///
/// A node and its error handler have different task ids, so neither continues the other's call.
fn in_memory(call: &Call<'_>, place: &Place, cx: &Context) -> Result<InMemory, NodeError> {
    let aside = cx.memo(|memo| memo.aside.remove(&place.task)).and_then(|aside| aside.downcast().ok());
    Ok(match aside.map(|aside| *aside) {
        Some(InMemory::Begun(mut begun)) => {
            begun.driver.take_answers(|id| cx.memo(|memo| memo.answers.get(id).cloned()));
            InMemory::Begun(begun)
        }
        Some(InMemory::Came(came)) => {
            cx.lay_aside(place.task.clone(), Box::new(InMemory::Came(came.again())));
            InMemory::Came(came)
        }
        None => InMemory::Begun(Box::new(begin_call(call, place, cx)?)),
    })
}

/// Passes the call's open interrupts and stop on to its task.
fn hand_on(driver: &Driver, cx: &Context) {
    let desk = cx.desk();
    for question in driver.interrupts() {
        let mut question = question.clone();
        question.namespace.insert(0, cx.node().to_owned());
        desk.wait_for(question);
    }
    if let Some(halt) = &driver.halt {
        desk.halt(halt.within(cx.node()));
    }
}

/// Reopens the interrupts of a failed call: they are asked again when the task runs again.
fn reopen(driver: &Driver, cx: &Context) {
    for question in driver.interrupts() {
        let mut question = question.clone();
        cx.memo(|memo| memo.answers.remove(&question.id));
        question.namespace.insert(0, cx.node().to_owned());
        cx.desk().ask_again(question);
    }
}

impl Driver {
    /// Returns `true` if the run has stopped.
    fn halts(&self) -> bool {
        self.halt.is_some()
    }

    /// Takes over the answers to its open interrupts.
    pub(in crate::engine) fn take_answers(&mut self, answer: impl Fn(&str) -> Option<Answered>) {
        let step = self.step + 1;
        for (&task, open) in &mut self.suspended {
            open.retain(|open| match answer(&open.id) {
                Some(answered) if answered.question == open.question => {
                    let id = open.id.clone();
                    self.ctx.shared.memos.give(step, task, [(id, answered)]);
                    false
                }
                _ => true,
            });
        }
    }
}
