//! The command line, the sizes and the clock that all programs share.
//!
//! Each program is called as `<program> <workload> <repetitions>` and prints one line of JSON per repetition:
//!
//! - `{"nanoseconds": 1234}` is the time of one run of the workload, or
//! - `{"cannot": ".."}` says why the library has no such run, or
//! - `{"same": "messages-sqlite"}` names the workload that is the same for this library.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{env, fs, process};

use tokio::runtime::{Builder, Runtime};

/// Nodes in a row.
pub const CHAIN: u64 = 1_000;
/// Runs of the node in a loop.
pub const LOOP: u64 = 10_000;
/// Tasks of a fan-out.
pub const WIDTH: u64 = 100;
/// Fan-outs in one run of the looped fan-out.
pub const ROUNDS: u64 = 100;
/// Supersteps of the workloads with many fields and with messages.
pub const STEPS: u64 = 1_000;

/// The value of each text field of a large state: 40 bytes.
pub const TEXT: &str = "forty bytes of text, as a field may have";

/// The sum of the items of one fan-out.
pub const fn sum() -> u64 {
    WIDTH * (WIDTH - 1) / 2
}

/// The text of a message, which has about 200 bytes as JSON together with a role.
pub fn content(number: u64) -> String {
    format!("message {number:6}: {}", "lorem ipsum dolor ".repeat(8))
}

/// A program to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// [`CHAIN`] nodes in a row, each of which adds 1 to a number.
    Chain,
    /// One node that adds 1 to a number, [`LOOP`] times.
    Loop,
    /// A node that starts [`WIDTH`] tasks, whose items are added up, and a node after all of them.
    FanOut,
    /// [`FanOut`](Self::FanOut) on a runtime with two worker threads.
    FanOutThreads,
    /// [`FanOut`](Self::FanOut), [`ROUNDS`] times in one run.
    FanOutLoop,
    /// One node that writes one of 60 fields, [`STEPS`] times.
    Fields60,
    /// One node that writes one of 100 fields, [`STEPS`] times.
    Fields100,
    /// One node that appends a message to a list, [`STEPS`] times, without a store.
    Messages,
    /// [`Messages`](Self::Messages) with the library's store in memory.
    MessagesMemory,
    /// [`Messages`](Self::Messages) with the library's store in SQLite, as it is by default.
    MessagesSqlite,
    /// [`Messages`](Self::Messages) in SQLite, with each superstep on disk before the next one starts.
    MessagesSqliteSync,
    /// [`Messages`](Self::Messages) in SQLite, with the library's option to store changes and not whole states.
    MessagesSqliteDeltas,
}

impl Workload {
    const ALL: [(&str, Self); 12] = [
        ("chain", Self::Chain),
        ("loop", Self::Loop),
        ("fan-out", Self::FanOut),
        ("fan-out-threads", Self::FanOutThreads),
        ("fan-out-loop", Self::FanOutLoop),
        ("fields-60", Self::Fields60),
        ("fields-100", Self::Fields100),
        ("messages", Self::Messages),
        ("messages-memory", Self::MessagesMemory),
        ("messages-sqlite", Self::MessagesSqlite),
        ("messages-sqlite-sync", Self::MessagesSqliteSync),
        ("messages-sqlite-deltas", Self::MessagesSqliteDeltas),
    ];

    /// Short runs are repeated, and their mean is one measurement.
    fn runs(self) -> u32 {
        match self {
            Self::FanOut | Self::FanOutThreads => 50,
            _ => 1,
        }
    }
}

/// One call of a program.
pub struct Bench {
    /// The workload to run.
    pub workload: Workload,
    repetitions: u32,
    threads: usize,
}

impl Bench {
    /// Reads the command line.
    pub fn from_args() -> Self {
        let args: Vec<String> = env::args().skip(1).collect();
        let parsed = match args.as_slice() {
            [workload, repetitions] => Workload::ALL
                .iter()
                .find(|(name, _)| name == workload)
                .and_then(|(_, workload)| Some((*workload, repetitions.parse().ok()?))),
            _ => None,
        };
        let Some((workload, repetitions)) = parsed else {
            eprintln!("usage: <program> <workload> <repetitions>, with one of these workloads:");
            Workload::ALL.iter().for_each(|(name, _)| eprintln!("  {name}"));
            process::exit(2);
        };
        let threads = if workload == Workload::FanOutThreads { 2 } else { 1 };
        Self { workload, repetitions, threads }
    }

    /// Uses a runtime with two worker threads, for a library that does not run on one thread.
    pub fn on_two_threads(mut self) -> Self {
        self.threads = 2;
        self
    }

    /// Says why the library does not have this workload.
    pub fn cannot(&self, reason: &str) {
        println!("{{\"cannot\": \"{reason}\"}}");
    }

    /// Says that this workload is the same as another one.
    pub fn same_as(&self, workload: &str) {
        println!("{{\"same\": \"{workload}\"}}");
    }

    /// Times `run`, and neither `prepare` nor `check`. The first repetition is not counted. `prepare` gets an empty folder
    /// if the workload has a database.
    ///
    /// All three run in a task of the runtime, as in a server.
    pub fn time<T, R, P, PF, F, FF, C, CF>(&self, prepare: P, run: F, check: C)
    where
        T: Clone + Send + 'static,
        R: Send + 'static,
        P: Fn(PathBuf) -> PF + Send + 'static,
        PF: Future<Output = T> + Send + 'static,
        F: Fn(T) -> FF + Send + 'static,
        FF: Future<Output = R> + Send + 'static,
        C: Fn(T, R) -> CF + Send + 'static,
        CF: Future<Output = ()> + Send + 'static,
    {
        let (repetitions, runs) = (self.repetitions, self.workload.runs());
        let stores = matches!(
            self.workload,
            Workload::MessagesSqlite | Workload::MessagesSqliteSync | Workload::MessagesSqliteDeltas
        );
        let timed = async move {
            for repetition in 0..=repetitions {
                let mut total = Duration::ZERO;
                for _ in 0..runs {
                    let folder = if stores { folder(repetition) } else { PathBuf::new() };
                    let prepared = prepare(folder).await;
                    let start = Instant::now();
                    let result = run(prepared.clone()).await;
                    total += start.elapsed();
                    check(prepared, result).await;
                }
                if repetition > 0 {
                    println!("{{\"nanoseconds\": {}}}", (total / runs).as_nanos());
                }
            }
        };
        let runtime = self.runtime();
        let done = runtime.block_on(async { runtime.spawn(timed).await });
        if let Err(error) = done {
            eprintln!("{error}");
            process::exit(1);
        }
    }

    fn runtime(&self) -> Runtime {
        let mut builder = match self.threads {
            1 => Builder::new_current_thread(),
            threads => {
                let mut builder = Builder::new_multi_thread();
                builder.worker_threads(threads);
                builder
            }
        };
        builder.enable_all().build().expect("a runtime")
    }
}

/// Creates an empty folder for the database of one run, inside the working directory.
fn folder(repetition: u32) -> PathBuf {
    let folder = PathBuf::from(format!("database-{}-{repetition}", process::id()));
    fs::create_dir(&folder).expect("a folder");
    folder
}

/// Passes the names of 59 fields to a macro, which adds one field and has a state of 60.
#[macro_export]
macro_rules! with_59_fields {
    ($macro:ident) => {
        $macro! {
            a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 d0 d1 d2 d3 d4 d5 d6
            d7 d8 d9 e0 e1 e2 e3 e4 e5 e6 e7 e8 e9 f0 f1 f2 f3 f4 f5 f6 f7 f8
        }
    };
}

/// Passes the names of 99 fields to a macro, which adds one field and has a state of 100.
#[macro_export]
macro_rules! with_99_fields {
    ($macro:ident) => {
        $macro! {
            a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 d0 d1 d2 d3 d4 d5 d6
            d7 d8 d9 e0 e1 e2 e3 e4 e5 e6 e7 e8 e9 f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 g0 g1 g2 g3 g4 g5 g6 g7 g8 g9 h0 h1 h2 h3
            h4 h5 h6 h7 h8 h9 i0 i1 i2 i3 i4 i5 i6 i7 i8 i9 j0 j1 j2 j3 j4 j5 j6 j7 j8
        }
    };
}
