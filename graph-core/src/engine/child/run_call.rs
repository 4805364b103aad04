use std::future::pending;

use crate::engine::context::{Answered, Context, StopPoint};
use crate::engine::graph::CallStorage;
use crate::engine::run::Driver;
use crate::erased::TaskWrites;
use crate::error::{ErrorKind, NodeError};

use super::call::{Call, ErasedCallResult};
use super::call_in_memory::{StartedCall, begin_call};
use super::call_on_thread::call_on_thread;
use super::place::CallPlace;

/// Runs a subgraph inside a task. Begins the call, or continues it from where an earlier attempt of the task left it.
///
/// While the call waits for answers, its task is suspended. The task takes over the call's open interrupts with their
/// ids.
///
/// # Cancel safety
/// Finished work of the call is kept: on the thread if the call is stored, otherwise in the data that the task keeps
/// between attempts.
pub(crate) async fn run_call(call: Call<'_>, cx: &Context) -> Result<ErasedCallResult, NodeError> {
    let place = CallPlace::of(&call, cx)?;
    let parent_persistence =
        cx.shared.parent_run.parent_persistence.as_ref().filter(|_| call.storage != CallStorage::Nothing);
    let (begun, storage) = match parent_persistence {
        Some(parent_persistence) => (call_on_thread(&call, &place, cx, parent_persistence).await?, None),
        None => match call_in_memory(&call, &place, cx)? {
            CallInMemory::Started(begun) => (*begun, Some((cx, place.task.clone()))),
            CallInMemory::Ended(call_result) => return Ok(call_result),
        },
    };
    let mut running = RunningCall { begun: Some(begun), storage };
    let Some(StartedCall { driver, .. }) = &mut running.begun else { return Err(Lost.into()) };
    // In a later attempt of the task, this stream has shown the results of the attempt before it.
    let restored =
        driver.events.is_some() && !cx.memory(|memory| std::mem::replace(&mut memory.has_shown_call, true));
    driver.announce(restored).await;
    let spans = driver.spans.clone();
    while driver.parent_commands.is_empty() {
        let stepped = spans.instrument(driver.step()).await;
        spans.stepped(&stepped, driver.is_stopped());
        match stepped {
            Ok(true) => cx.heartbeat(),
            Ok(false) if driver.is_stopped() => {
                pass_to_task(driver, cx, &place.task);
                drop(running);
                return pending().await;
            }
            Ok(false) => break,
            // The parent run is cancelled too, and drops this call.
            Err(error) if matches!(error.kind(), ErrorKind::Cancelled { .. }) => {
                drop(running);
                return pending().await;
            }
            Err(error) => {
                reopen(driver, cx);
                return Err(error.into());
            }
        }
    }
    let storage = running.storage.take();
    let Some(StartedCall { mut driver, state: begun, lock: _lock }) = running.begun.take() else {
        return Err(Lost.into());
    };
    driver.conclude_call(&call.storage).await?;
    let returned = driver.returned.take();
    let update = match returned {
        Some(returned) => returned.into_update(&*driver.state)?,
        None => TaskWrites::default(),
    };
    let parent_commands = std::mem::take(&mut driver.parent_commands);
    let call_result = ErasedCallResult { state: driver.into_state(), begun, update, parent_commands };
    // The parent node may fail to use the result, and run again. A call on a thread is complete by then; a call in
    // memory is kept for nodes with a policy.
    if let Some((cx, task)) = storage
        && cx.memory(|memory| memory.retries.attempt > 0)
    {
        cx.park(task, Box::new(CallInMemory::Ended(call_result.again())));
    }
    Ok(call_result)
}

/// The state of a subgraph call was taken twice. Only the call itself takes it, so this is a bug.
#[derive(Debug, thiserror::Error)]
#[error("internal error: the state of the subgraph call was lost; please report this")]
struct Lost;

/// A subgraph call in progress. When it is dropped and not stored, it is kept for the task's next attempt.
struct RunningCall<'c> {
    begun: Option<StartedCall>,
    /// The context and the id of the task; only for a call that is not stored.
    storage: Option<(&'c Context, String)>,
}

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        // After a panic inside the engine, the call cannot be continued.
        if std::thread::panicking() {
            return;
        }
        if let (Some(begun), Some((cx, task))) = (self.begun.take(), self.storage.take()) {
            cx.park(task, Box::new(CallInMemory::Started(Box::new(begun))));
        }
    }
}

/// A call that is not stored.
enum CallInMemory {
    Started(Box<StartedCall>),
    /// The call has ended in an earlier attempt.
    Ended(ErasedCallResult),
}

/// Takes the call that an earlier attempt has kept, or begins a new one.
///
/// A node and its error handler have different task ids, so neither continues the other's call.
fn call_in_memory(call: &Call<'_>, place: &CallPlace, cx: &Context) -> Result<CallInMemory, NodeError> {
    let parked =
        cx.memory(|memory| memory.parked.remove(&place.task)).and_then(|parked| parked.downcast().ok());
    Ok(match parked.map(|parked| *parked) {
        Some(CallInMemory::Started(mut begun)) => {
            begun.driver.take_answers(|id| cx.memory(|memory| memory.answers.get(id).cloned()));
            begun.driver.pass_reported_breakpoints(&place.task);
            CallInMemory::Started(begun)
        }
        Some(CallInMemory::Ended(call_result)) => {
            cx.park(place.task.clone(), Box::new(CallInMemory::Ended(call_result.again())));
            CallInMemory::Ended(call_result)
        }
        None => CallInMemory::Started(Box::new(begin_call(call, place, cx)?)),
    })
}

/// Passes the call's open interrupts, its stop and its position on to its task.
fn pass_to_task(driver: &Driver, cx: &Context, task: &str) {
    let scratch = cx.scratch();
    for question in driver.interrupts() {
        let mut question = question.clone();
        question.namespace.insert(0, cx.node().to_owned());
        scratch.wait_for(question);
    }
    if let Some(stop_point) = &driver.stop_point {
        let mut stop_point = stop_point.in_parent_run(cx.node());
        // Calls inside this one that have finished run again if it is not stored.
        let mut calls = cx.shared.parent_run.reported.inside(task, driver.step + 1);
        calls.append(&mut stop_point.calls);
        if driver.breakpoints.is_some() || !calls.is_empty() {
            calls.insert(task.to_owned(), driver.step);
        }
        scratch.stop_point(StopPoint { calls, ..stop_point });
    }
}

/// Reopens the interrupts of a failed call: they are asked again when the task runs again.
fn reopen(driver: &Driver, cx: &Context) {
    for question in driver.interrupts() {
        let mut question = question.clone();
        cx.memory(|memory| memory.answers.remove(&question.id));
        question.namespace.insert(0, cx.node().to_owned());
        cx.scratch().ask_again(question);
    }
}

impl Driver {
    /// Returns `true` if the run has stopped.
    fn is_stopped(&self) -> bool {
        self.stop_point.is_some()
    }

    /// Takes over the answers to its open interrupts.
    pub(crate) fn take_answers(&mut self, answer: impl Fn(&str) -> Option<Answered>) {
        let step = self.step + 1;
        for (&task, open) in &mut self.suspended {
            open.retain(|open| match answer(&open.id) {
                Some(answered) if answered.question == open.question => {
                    let id = open.id.clone();
                    self.ctx.shared.memories.give(step, task, [(id, answered)]);
                    false
                }
                _ => true,
            });
        }
    }
}
