//! The stop of a run, as its caller sees it.

use std::sync::Arc;
use std::time::SystemTime;

use crate::Outcome;
use crate::engine::context::{StopPoint, TaskMemory, Timer};
use crate::erased::ErasedState;
use crate::interrupt::{OpenInterrupt, Pause};
use crate::options::{Stop, from_millis, to_millis};

use super::driver::Driver;

impl Driver {
    /// Stops the run at its suspended tasks. Returns `false`, the result of [`Driver::step`] in this case.
    #[cold]
    pub(crate) fn stop(&mut self) -> bool {
        let mut all = StopPoint { wakes_at: self.wakes_at(), ..StopPoint::default() };
        for stop_point in std::mem::take(&mut self.stop_points) {
            all.add(stop_point);
        }
        all.requested |= all.wakes_at.is_some() && self.options.stop.as_ref().is_some_and(Stop::is_stopping);
        self.stop_point = Some(all);
        false
    }

    /// Returns `true` if the last step ended in a stop.
    pub(crate) fn is_at_stop_point(&self) -> bool {
        self.stop_point.is_some()
    }

    /// Returns the earliest time at which a suspended task wakes.
    fn wakes_at(&self) -> Option<SystemTime> {
        let memories = &self.ctx.shared.memories;
        let asleep = |&task: &usize| memories.of(self.step + 1, task, |memory| memory.asleep);
        // Rounded as it is stored.
        let first = self.suspended.keys().filter_map(asleep).min();
        first.and_then(|time| from_millis(to_millis(time)))
    }

    /// Returns the earliest time at which a question or a sleep of the tasks that wait for answers ends, after a failure.
    pub(crate) fn first_deadline(&self) -> Option<SystemTime> {
        let memories = &self.ctx.shared.memories;
        let timers = self.suspended.keys().filter_map(|&task| {
            let first = |memory: &mut TaskMemory| memory.sleeps.values().filter_map(Timer::pending).min();
            from_millis(memories.of(self.step + 1, task, first)?)
        });
        timers.chain(self.interrupts().filter_map(|open| open.expires_at)).min()
    }

    /// Returns the pause at which the run has stopped, with its state; `None` while it runs and when it is complete.
    ///
    /// After a failure the pause holds the interrupts that are open nevertheless.
    pub(crate) fn pause(&self) -> Option<Pause<&dyn ErasedState>> {
        let stop_point =
            self.stop_point.clone().or_else(|| self.interrupts().next().map(|_| StopPoint::default()))?;
        Some(self.paused(&*self.state, stop_point))
    }

    fn paused<T>(&self, state: T, stop_point: StopPoint) -> Pause<T> {
        Pause {
            state,
            interrupts: self.interrupts().cloned().collect(),
            before: stop_point.before,
            after: stop_point.after,
            next: self.next().map(str::to_owned).collect(),
            stopped: stop_point.requested,
            wakes_at: stop_point.wakes_at,
        }
    }

    /// Returns the open interrupts, in application order.
    pub(crate) fn interrupts(&self) -> impl Iterator<Item = &OpenInterrupt> {
        self.suspended.values().flatten()
    }

    /// Converts the run into its outcome.
    pub(crate) fn into_outcome(mut self) -> Outcome<Arc<dyn ErasedState>> {
        if let Some(persist) = &mut self.persist {
            persist.ends_here();
        }
        match self.stop_point.take() {
            None => Outcome::Done(self.into_state()),
            Some(stop_point) => {
                let pause = self.paused((), stop_point);
                Outcome::Interrupted(pause.with_state(self.into_state()))
            }
        }
    }
}
