//! The bounded queue between a run and the reader of its stream.
//!
//! A sender that finds the queue full parks its event and waits. The reader takes parked events over in order, and
//! wakes only their senders. It never depends on a poll of a sender: a run polls none of its tasks while it waits for
//! space itself, so space that is reserved for one of these tasks would stop the run for ever.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The number of events that a run may be ahead of its reader.
const CAPACITY: usize = 64;

/// The queue length at which the reader takes parked events over. Lower than the capacity, so that a sender that is
/// ahead is not woken for each event.
const REFILL: usize = CAPACITY / 2;

/// Creates a queue.
pub(crate) fn queue<T>() -> (Sender<T>, Receiver<T>) {
    let queue = Arc::new(Mutex::new(Queue {
        accepted: VecDeque::new(),
        parked: BTreeMap::new(),
        next: 0,
        reader: None,
        closed: false,
    }));
    (Sender(Arc::clone(&queue)), Receiver(queue))
}

struct Queue<T> {
    /// Events whose senders have continued.
    accepted: VecDeque<T>,
    /// Events of waiting senders, in order, each with the waker of its sender. Not empty only if `accepted` was full.
    parked: BTreeMap<u64, (T, Waker)>,
    /// The number of the next parked event.
    next: u64,
    reader: Option<Waker>,
    closed: bool,
}

type Shared<T> = Arc<Mutex<Queue<T>>>;

fn lock<T>(queue: &Mutex<Queue<T>>) -> MutexGuard<'_, Queue<T>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends events to the reader.
pub(crate) struct Sender<T>(Shared<T>);

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Sender<T> {
    /// Sends an event, and waits while the reader is far behind. A closed queue drops the event.
    ///
    /// If the future is dropped, the event was sent or is dropped.
    pub(crate) fn send(&self, event: T) -> Sending<'_, T> {
        Sending { queue: &self.0, state: State::New(event) }
    }
}

/// Sends one event.
pub(crate) struct Sending<'q, T> {
    queue: &'q Mutex<Queue<T>>,
    state: State<T>,
}

enum State<T> {
    New(T),
    /// The event is parked under this number.
    Parked(u64),
    Sent,
}

// The event is never pinned.
impl<T> Unpin for Sending<'_, T> {}

impl<T> Future for Sending<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut queue = lock(this.queue);
        match std::mem::replace(&mut this.state, State::Sent) {
            State::New(event) if queue.closed => {
                drop(queue);
                drop(event);
                Poll::Ready(())
            }
            State::New(event) if queue.accepted.len() < CAPACITY && queue.parked.is_empty() => {
                queue.accepted.push_back(event);
                let reader = queue.reader.take();
                drop(queue);
                reader.into_iter().for_each(Waker::wake);
                Poll::Ready(())
            }
            State::New(event) => {
                let number = queue.next;
                queue.next += 1;
                queue.parked.insert(number, (event, cx.waker().clone()));
                this.state = State::Parked(number);
                Poll::Pending
            }
            State::Parked(number) => match queue.parked.get_mut(&number) {
                Some((_, waker)) => {
                    waker.clone_from(cx.waker());
                    this.state = State::Parked(number);
                    Poll::Pending
                }
                None => Poll::Ready(()),
            },
            State::Sent => Poll::Ready(()),
        }
    }
}

impl<T> Drop for Sending<'_, T> {
    fn drop(&mut self) {
        if let State::Parked(number) = self.state {
            // Dropped after the lock is released, because the event belongs to the user.
            let parked = lock(self.queue).parked.remove(&number);
            drop(parked);
        }
    }
}

/// Receives the events of a run.
pub(crate) struct Receiver<T>(Shared<T>);

impl<T> Receiver<T> {
    /// Returns the next event, or `None` at the end of a closed queue.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut queue = lock(&self.0);
        let Some(event) = queue.accepted.pop_front() else {
            if queue.closed {
                return Poll::Ready(None);
            }
            match &mut queue.reader {
                Some(reader) => reader.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
            return Poll::Pending;
        };
        let mut woken = Vec::new();
        if queue.accepted.len() <= REFILL {
            while queue.accepted.len() < CAPACITY
                && let Some((_, (event, sender))) = queue.parked.pop_first()
            {
                queue.accepted.push_back(event);
                woken.push(sender);
            }
        }
        drop(queue);
        woken.into_iter().for_each(Waker::wake);
        Poll::Ready(Some(event))
    }

    /// Refuses further events. Parked events are dropped, and their senders continue.
    pub(crate) fn close(&self) {
        let mut queue = lock(&self.0);
        queue.closed = true;
        let parked = std::mem::take(&mut queue.parked);
        drop(queue);
        for (event, sender) in parked.into_values() {
            drop(event);
            sender.wake();
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.close();
        let unread = std::mem::take(&mut lock(&self.0).accepted);
        drop(unread);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Wake, Waker};

    use super::{CAPACITY, Receiver, Sender, Sending, queue};

    /// Counts the wakes of a sender or of the reader.
    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn poll(sending: &mut Sending<'_, usize>, wakes: &Arc<Wakes>) -> bool {
        let waker = Waker::from(Arc::clone(wakes));
        Pin::new(sending).poll(&mut Context::from_waker(&waker)).is_ready()
    }

    /// Sends events until one is parked, and more after it. Returns the parked ones.
    fn fill<'s>(sender: &'s Sender<usize>, parked: usize, wakes: &Arc<Wakes>) -> Vec<Sending<'s, usize>> {
        let mut all: Vec<_> = (0..CAPACITY + parked).map(|event| sender.send(event)).collect();
        let ready = all.iter_mut().map(|sending| poll(sending, wakes)).filter(|ready| *ready).count();
        assert_eq!(ready, CAPACITY);
        all.split_off(CAPACITY)
    }

    /// Reads the events that have arrived. The reader's waker does nothing.
    fn read(receiver: &Receiver<usize>) -> Vec<usize> {
        let mut cx = Context::from_waker(Waker::noop());
        std::iter::from_fn(|| match receiver.poll(&mut cx) {
            Poll::Ready(event) => event,
            Poll::Pending => None,
        })
        .collect()
    }

    #[test]
    fn parked_events_arrive_in_order_without_a_poll_of_their_senders() {
        let (sender, receiver) = queue();
        let wakes = Arc::default();
        let mut parked = fill(&sender, 1_000, &wakes);
        assert_eq!(read(&receiver), (0..CAPACITY + 1_000).collect::<Vec<_>>());
        assert_eq!(wakes.0.load(Ordering::Relaxed), 1_000, "each parked sender is woken once");
        assert!(parked.iter_mut().all(|sending| poll(sending, &wakes)));
    }

    #[test]
    fn dropped_sender_takes_its_parked_event_along() {
        let (sender, receiver) = queue();
        let mut parked = fill(&sender, 3, &Arc::default());
        drop(parked.remove(1));
        let expected: Vec<_> = (0..CAPACITY + 3).filter(|event| *event != CAPACITY + 1).collect();
        assert_eq!(read(&receiver), expected);
    }

    #[test]
    fn closed_queue_keeps_accepted_events_and_drops_parked_ones() {
        let (sender, receiver) = queue();
        let wakes = Arc::default();
        let mut parked = fill(&sender, 3, &wakes);
        receiver.close();
        assert!(parked.iter_mut().all(|sending| poll(sending, &wakes)));
        assert!(poll(&mut sender.send(0), &wakes), "a later event is dropped");
        assert_eq!(read(&receiver), (0..CAPACITY).collect::<Vec<_>>());
        assert!(matches!(receiver.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(None)));
    }

    #[test]
    fn event_wakes_a_waiting_reader() {
        let (sender, receiver) = queue();
        let (reader, wakes) = (Arc::<Wakes>::default(), Arc::default());
        let waker = Waker::from(Arc::clone(&reader));
        assert!(receiver.poll(&mut Context::from_waker(&waker)).is_pending());
        assert!(poll(&mut sender.send(1), &wakes) && poll(&mut sender.send(2), &wakes));
        assert_eq!(reader.0.load(Ordering::Relaxed), 1);
        assert_eq!(read(&receiver), [1, 2]);
    }
}
