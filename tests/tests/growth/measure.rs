//! Measures an operation at a size and at twice that size.
//!
//! The cost is the processor time of the whole process, because stores and runtimes have threads of their own, and that of
//! the server for the store's connections. One measurement runs at a time.
//!
//! A busy machine makes the same work cost up to twice as much. So the ratio of the least costs counts, or the median of
//! the ratios of the rounds: the two costs of a round are measured right after each other.
//!
//! A cost can jump between two sizes without growing faster from there on: the processor's caches are full, or a second
//! worker begins to take tasks. So a steep ratio counts if it is steep from twice the size to four times the size, too.

use std::cell::Cell;
use std::fmt;
use std::io::Write as _;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use superstep::checkpoint::Checkpointer;
use tokio::runtime::{Builder, Runtime};

use super::stores::TestStore;

/// The greatest ratio of the cost at twice the size to the cost at the size. Linear growth has a ratio of 2, quadratic
/// growth has 4.
const LIMIT: f64 = 2.6;

/// The least cost that is compared. Below it, the state of the processor's caches decides.
const FLOOR: Duration = Duration::from_millis(2);

/// A ratio that is far enough from the limit, so that one round is enough.
const CLEAR: f64 = 2.25;

/// The rounds that are measured while the ratio is not clear, and the rounds after which a ratio above the limit fails.
const ROUNDS: std::ops::RangeInclusive<usize> = 2..=7;

/// The places in which an operation is measured.
#[derive(Clone, Copy)]
pub(crate) enum On {
    /// Every store in this process.
    Stores,
    /// The store on a server, if there is one on this machine.
    Server,
    /// Every runtime, without a store.
    Runtimes,
    /// Every store on every runtime.
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum StoreKind {
    None,
    Memory,
    File,
    Server,
}

#[derive(Clone, Copy, Debug)]
enum Flavor {
    CurrentThread,
    MultiThread,
}

impl On {
    fn places(self) -> Vec<(StoreKind, Flavor)> {
        use {Flavor::*, StoreKind::*};
        match self {
            Self::Stores => vec![(Memory, CurrentThread), (File, CurrentThread)],
            Self::Server => vec![(Server, CurrentThread)],
            Self::Runtimes => vec![(None, CurrentThread), (None, MultiThread)],
            Self::Both => {
                [Memory, File].iter().flat_map(|&s| [(s, CurrentThread), (s, MultiThread)]).collect()
            }
        }
    }
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "no store",
            Self::Memory => "memory",
            Self::File => "SQLite",
            Self::Server => "PostgreSQL",
        })
    }
}

impl fmt::Display for Flavor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::CurrentThread => "one thread",
            Self::MultiThread => "two threads",
        })
    }
}

impl Flavor {
    fn runtime(self) -> Runtime {
        let mut builder = match self {
            Self::CurrentThread => Builder::new_current_thread(),
            Self::MultiThread => Builder::new_multi_thread(),
        };
        builder.worker_threads(2).enable_time().build().unwrap()
    }
}

/// One execution of an operation at a size, on a fresh store.
pub(crate) struct Sample {
    pub(crate) n: usize,
    store: Arc<dyn Checkpointer>,
    place: TestStore,
    cost: Cell<Option<Duration>>,
}

impl Sample {
    pub(crate) fn store(&self) -> Arc<dyn Checkpointer> {
        Arc::clone(&self.store)
    }

    /// Measures one part of the sample.
    pub(crate) async fn cost<T>(&self, operation: impl Future<Output = T>) -> T {
        let server = self.server_time();
        let before = processor_time();
        let result = operation.await;
        let cost = processor_time().saturating_sub(before) + self.server_time().saturating_sub(server);
        self.cost.set(Some(self.cost.get().unwrap_or_default() + cost));
        result
    }

    fn server_time(&self) -> Duration {
        match &self.place {
            TestStore::Postgres(schema) => schema.server_time().unwrap(),
            _ => Duration::ZERO,
        }
    }
}

/// The costs of an operation at a size and at twice the size.
struct Growth {
    n: usize,
    once: Duration,
    twice: Duration,
    ratio: f64,
}

impl Growth {
    /// Measures until the ratio is clear, or the rounds are over.
    fn measure(n: usize, sample: impl Fn(usize) -> Duration) -> Self {
        let mut growth = Self { n, once: Duration::MAX, twice: Duration::MAX, ratio: f64::INFINITY };
        let mut ratios = Vec::new();
        for round in 1..=*ROUNDS.end() {
            let (small, large) = (sample(n), sample(2 * n));
            (growth.once, growth.twice) = (growth.once.min(small), growth.twice.min(large));
            ratios.push(large.div_duration_f64(small.max(FLOOR)));
            ratios.sort_by(f64::total_cmp);
            let median = ratios[ratios.len() / 2];
            growth.ratio = growth.twice.div_duration_f64(growth.once.max(FLOOR)).min(median);
            if growth.ratio <= CLEAR || (round >= *ROUNDS.start() && growth.ratio <= LIMIT) {
                break;
            }
        }
        growth
    }
}

/// Checks that the cost of an operation grows linearly from `n` to `2 * n`, and prints a line for each place.
pub(crate) fn check(name: &str, on: On, n: usize, operation: impl AsyncFn(&Sample)) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut steep = Vec::new();
    for (kind, flavor) in on.places() {
        if kind == StoreKind::Server && !has_server() {
            continue;
        }
        let sample = |n| {
            let place = match kind {
                StoreKind::File => TestStore::file(),
                StoreKind::Server => TestStore::postgres().expect("a server"),
                StoreKind::None | StoreKind::Memory => TestStore::memory(),
            };
            let runtime = flavor.runtime();
            runtime.block_on(async {
                let sample = Sample { n, store: place.open(), place, cost: Cell::new(None) };
                operation(&sample).await;
                sample.cost.get().expect("the operation was measured")
            })
        };
        let mut growth = Growth::measure(n, sample);
        if growth.ratio > LIMIT {
            growth = Growth::measure(2 * n, sample);
        }
        let Growth { n, once, twice, ratio } = growth;
        let name = name.replace('_', " ");
        let shown = if once < FLOOR { "-".to_owned() } else { format!("{ratio:.2}") };
        let line =
            format!("{name:<50} {kind:<10} {flavor:<11} {n:>6}: {once:>9.2?} {twice:>9.2?} {shown:>5}");
        // The test harness has printed the name of the test before it.
        println!("\n{line}");
        if ratio > LIMIT {
            steep.push(line);
        }
    }
    assert!(steep.is_empty(), "the cost at twice the size is more than {LIMIT} times:\n{}", steep.join("\n"));
}

/// Returns `true` if there is a server whose processor time can be read. Says once if it cannot.
fn has_server() -> bool {
    static READABLE: LazyLock<bool> = LazyLock::new(|| {
        let Some(place) = TestStore::postgres() else { return false };
        let TestStore::Postgres(schema) = &place else { return false };
        let _store = schema.open();
        let is_readable = schema.server_time().is_some();
        if !is_readable {
            // Not a macro: the test harness would capture it.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: growth on PostgreSQL needs a server on this machine, whose processor time the system tells"
            );
        }
        is_readable
    });
    *READABLE
}

/// Returns the processor time that this process has used.
#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

/// Returns the time since the first call.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    static START: LazyLock<std::time::Instant> = LazyLock::new(std::time::Instant::now);
    START.elapsed()
}
