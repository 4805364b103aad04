use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use superstep_store::checkpoint::CheckpointError;
use tokio::sync::oneshot;

use crate::queue::{Queue, Ticket};
use crate::trouble::{About, Trouble};

use super::call::Call;
use super::{Session, Turn, Write};

/// How many writes may be accepted that nobody waits for.
const ACCEPTED: usize = 1_024;

/// Where writes are handed over to the thread that writes.
pub(crate) struct Writes {
    queue: Arc<Queue<Write>>,
    /// The last write that its caller has left behind, to be done all the same; 0 if there is none.
    left: AtomicU64,
}

impl Writes {
    pub(crate) fn new() -> Self {
        Self { queue: Arc::new(Queue::new(ACCEPTED)), left: AtomicU64::new(0) }
    }

    pub(super) fn queue(&self) -> Arc<Queue<Write>> {
        Arc::clone(&self.queue)
    }

    pub(crate) fn close(&self) {
        self.queue.close();
    }

    /// Hands a write over at the first poll, and waits until it is durable.
    pub(crate) async fn write<T: Send + 'static, F>(
        &self,
        about: About,
        long: bool,
        run: F,
    ) -> Result<T, CheckpointError>
    where
        F: FnMut(&mut Session) -> Result<Turn<T>, Trouble> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let what = about.what;
        let ticket = self.queue.push(Box::new(Call { about, run, long, outcome: None, answer }));
        let mut waiting = Waiting { writes: self, ticket: Some(ticket) };
        let answer = answered.await;
        waiting.ticket = None;
        let (outcome, _written) =
            answer.map_err(|_| CheckpointError::backend(what, "its thread has ended"))?;
        outcome
    }

    /// Waits for the writes that their callers have left behind, so that whoever reads now sees what came of them.
    pub(crate) async fn settled(&self) {
        let left = self.left.load(Ordering::Acquire);
        if left == 0 {
            return;
        }
        // Whatever comes of this one, those before it have been done or have failed.
        let about = About { what: "wait for an earlier write", ..About::default() };
        drop(self.write(about, false, |_| Ok(Turn::Done(()))).await);
        // Unless another has been left behind meanwhile.
        let _ = self.left.compare_exchange(left, 0, Ordering::AcqRel, Ordering::Relaxed);
    }
}

/// Takes a write out of the queue when its future is dropped, if it was not accepted yet.
struct Waiting<'q> {
    writes: &'q Writes,
    ticket: Option<Ticket>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket
            && self.writes.queue.abandon(ticket)
        {
            self.writes.left.fetch_max(ticket, Ordering::AcqRel);
        }
    }
}
