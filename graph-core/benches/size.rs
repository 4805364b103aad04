//! Measures a superstep that does not touch most of a large state.

#![expect(clippy::expect_used, reason = "a bench that cannot run has to stop")]

use std::env;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use paired::{extent, measuring, pair};
use superstep::messages::Message;
use superstep::{GraphState, Overwrite, START, StateGraph};
use tokio::runtime::Runtime;

/// Defines a state of `total` and the given number of lists that no node writes.
macro_rules! state_of {
    ($state:ident, $update:ident, $tick:ident, $($field:ident)*) => {
        #[derive(GraphState, Clone)]
        struct $state {
            total: u64,
            $(#[state(reducer = append)] $field: Vec<String>,)*
        }

        async fn $tick(state: &$state) -> $update {
            $state::update().total(state.total + 1)
        }
    };
}

state_of!(Narrow, NarrowUpdate, narrow,);
state_of!(Wide, WideUpdate, wide,
    a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 d0 d1 d2 d3 d4 d5 d6 d7 d8
    d9 e0 e1 e2 e3 e4 e5 e6 e7 e8 e9 f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 g0 g1 g2 g3 g4 g5 g6 g7 g8 g9 h0 h1 h2 h3 h4 h5 h6 h7
    h8 h9 i0 i1 i2 i3 i4 i5 i6 i7 i8 i9 j0 j1 j2 j3 j4 j5 j6 j7 j8 j9);

#[derive(GraphState, Clone)]
struct Log {
    #[state(reducer = append)]
    lines: Vec<u64>,
}

async fn append(_: &Log) -> LogUpdate {
    Log::update().lines([1])
}

#[derive(GraphState, Clone)]
struct Chat {
    #[state(reducer = add_messages)]
    messages: Vec<Message>,
}

async fn say(_: &Chat) -> ChatUpdate {
    Chat::update().messages("a")
}

macro_rules! looped {
    ($runtime:expr, $state:ident, $node:ident, $input:expr, $before:expr, $supersteps:expr) => {{
        let graph =
            StateGraph::<$state>::new().edge(START, $node).edge($node, $node).compile().expect("a graph");
        let (before, supersteps): (u32, u32) = ($before, $supersteps);
        let input = $input;
        let runtime: &Runtime = $runtime;
        runtime.block_on(async {
            let limit = u64::from(before + supersteps);
            let mut run = graph.run(input).recursion_limit(limit).start().expect("a run");
            while run.superstep() < u64::from(before) {
                run.step().await.expect("a superstep");
            }
            let start = Instant::now();
            while run.superstep() < limit {
                run.step().await.expect("a superstep");
            }
            start.elapsed()
        })
    }};
}

/// The C library's allocator keeps memory that is freed. Otherwise each round maps the memory of a long list again, and the
/// first use of every page is a fault: a cost of the kernel, not of the list.
const KEEPS_MEMORY: (&str, &str) =
    ("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296");

fn main() -> ExitCode {
    let (name, value) = KEEPS_MEMORY;
    if env::var_os(name).is_none() {
        // It is read when a process begins.
        let mut again = Command::new(env::current_exe().expect("the path of this program"));
        let status = again.args(env::args_os().skip(1)).env(name, value).status().expect("a process");
        return if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    measure();
    ExitCode::SUCCESS
}

fn measure() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let (rounds, supersteps) = extent(15, 200_000);

    let fields = pair(
        rounds,
        || looped!(&runtime, Wide, wide, Wide::input(), 0, supersteps),
        || looped!(&runtime, Narrow, narrow, Narrow::input(), 0, supersteps),
    );
    if measuring() {
        let each =
            (fields.ours.as_secs_f64() - fields.theirs.as_secs_f64()) * 1e9 / f64::from(supersteps) / 100.0;
        let kept = if each <= 0.6 { "kept" } else { "MISSED" };
        println!("each of 100 further fields: {each:.2} ns per superstep (promised ≤ 0.6: {kept})");
    }

    // A stepper keeps the state of its beginning, so the first superstep copies it, and a copied list has no room. After so
    // many supersteps both lists have room for all that are measured.
    let before = if measuring() { 3_000 } else { 1 };
    let (rounds, supersteps) = extent(25, 2_000);
    let grown = |length: usize| Log::input().lines(Overwrite(vec![1; length]));
    let per = |total: Duration| total / supersteps;
    pair(
        rounds,
        || per(looped!(&runtime, Log, append, grown(100_000), before, supersteps)),
        || per(looped!(&runtime, Log, append, grown(10), before, supersteps)),
    )
    .report("appending to a list of 100,000, against one of 10", 1.2);

    let grown = |length: usize| {
        let messages = (0..length).map(|at| Message::human("a").with_id(format!("{at}")));
        Chat::input().messages(Overwrite(messages.collect()))
    };
    pair(
        rounds,
        || per(looped!(&runtime, Chat, say, grown(100_000), before, supersteps)),
        || per(looped!(&runtime, Chat, say, grown(10), before, supersteps)),
    )
    .report("appending to 100,000 messages, against 10", 1.2);
}
