//! Fuzz targets: one for every reader of bytes from outside.
//!
//! Each target is a function of bytes that panics if a promise is broken. libFuzzer calls it through the package in
//! `fuzz/`; the tests in `tests/fuzz.rs` call it with its seeds and with random mutations of them.

mod answers;
mod chat;
mod json;
mod messages;
mod stored;

use std::time::{Duration, Instant};

/// A fuzz target with the seeds of its corpus.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name, also of the program in `fuzz/fuzz_targets/`.
    pub name: &'static str,
    /// Panics if a promise is broken.
    pub run: fn(&[u8]),
    /// Valid bytes from which mutations start.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Every target.
pub const TARGETS: [Target; 9] = [
    Target { name: "json_input", run: json::input, seeds: json::seeds },
    Target { name: "json_update", run: json::update, seeds: json::seeds },
    Target { name: "stored_value", run: stored::value, seeds: stored::value_seeds },
    Target { name: "stored_thread", run: stored::thread, seeds: stored::thread_seeds },
    Target { name: "answers", run: answers::answer, seeds: answers::seeds },
    Target { name: "messages", run: messages::read, seeds: messages::seeds },
    Target { name: "chat_reply", run: chat::whole, seeds: chat::whole_seeds },
    Target { name: "chat_stream", run: chat::streamed, seeds: chat::streamed_seeds },
    Target { name: "chat_round_trip", run: chat::round_trip, seeds: chat::round_trip_seeds },
];

impl Target {
    /// Runs a target by its name.
    pub fn named(name: &str) -> Option<Self> {
        TARGETS.into_iter().find(|target| target.name == name)
    }

    /// Runs the seeds, and then random mutations of them until the time is over. Returns the number of runs.
    ///
    /// A panic names the bytes, so that they can be added to the seeds.
    pub fn run_for(self, time: Duration, seed: u64) -> u64 {
        let (seeds, mut random) = ((self.seeds)(), Random(seed | 1));
        let end = Instant::now() + time;
        let mut runs = 0;
        let mut run = |bytes: &[u8]| {
            let _guard = Shown { name: self.name, bytes };
            (self.run)(bytes);
            runs += 1;
        };
        seeds.iter().take_while(|_| Instant::now() < end).for_each(|bytes| run(bytes));
        while Instant::now() < end {
            let bytes = random.mutated(&seeds);
            run(&bytes);
        }
        runs
    }
}

/// Prints the bytes of a run that panics.
struct Shown<'b> {
    name: &'static str,
    bytes: &'b [u8],
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { name, bytes } = self;
            eprintln!("target `{name}` panics with b\"{}\"", bytes.escape_ascii());
        }
    }
}

/// A generator of random numbers that is the same everywhere (xorshift).
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn new(seed: impl Into<u64>) -> Self {
        let mut random = Self(seed.into() << 1 | 1);
        // Small seeds begin with small numbers.
        (0..8).for_each(|_| _ = random.next());
        random
    }

    /// Cuts bytes into parts, most of them short.
    fn parts(mut self, mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        let longest = *self.one_of(&[1, 2, 5, 30, 200]).unwrap_or(&1);
        std::iter::from_fn(move || {
            let length = (1 + self.below(longest)).min(bytes.len());
            let (part, rest) = bytes.split_at(length);
            bytes = rest;
            (!part.is_empty()).then_some(part)
        })
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() >> 1).unwrap_or(usize::MAX) % end.max(1)
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }

    /// Returns a seed with up to eight mutations.
    fn mutated(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = self.one_of(seeds).cloned().unwrap_or_default();
        for _ in 0..=self.below(8) {
            self.mutate(&mut bytes, seeds);
        }
        bytes
    }

    fn mutate(&mut self, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.below(bytes.len() + 1);
        let to = at + self.below(bytes.len() - at + 1).min(self.below(32));
        let part = match self.below(7) {
            0 => Vec::new(),
            1 => vec![u8::try_from(self.below(256)).unwrap_or_default()],
            2 | 3 => self.one_of(WORDS).map(|word| word.as_bytes().to_vec()).unwrap_or_default(),
            4 => bytes.get(at..to).unwrap_or_default().repeat(2),
            5 => {
                let other = self.one_of(seeds).cloned().unwrap_or_default();
                let from = self.below(other.len() + 1);
                other.into_iter().skip(from).take(self.below(64)).collect()
            }
            _ => {
                let depth = self.below(300);
                self.one_of(&["[", "{\"a\":"]).map(|open| open.repeat(depth).into_bytes()).unwrap_or_default()
            }
        };
        bytes.splice(at..to, part);
    }
}

/// Parts of JSON, event streams and stored keys that a reader may treat in a special way.
const WORDS: &[&str] = &[
    "null",
    "true",
    "{}",
    "[]",
    "\"\"",
    "0",
    "-1",
    "1e300",
    "-1e-300",
    "3.5e38",
    "18446744073709551616",
    "NaN",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "é",
    "\u{feff}",
    "\"$overwrite\":",
    "\"type\":",
    "\"role\":",
    "\"content\":",
    ":",
    ",",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "\\",
    "\n",
    "\r",
    "\r\n\r\n",
    "data: ",
    "data:[DONE]\n\n",
    "\n\n",
    "\r\r",
    "\"choices\":",
    "\"delta\":",
    "\"error\":",
    "\"finish_reason\":\"stop\"",
    "\"index\":",
    "\"message\":",
    "\"tool_calls\":",
    "\"usage\":",
    "s3cret-k3y",
    "event: x\n",
    "id: 1\n",
    ": comment\n",
    "retry: 1\n",
    "00000v:",
    "9999d:",
    "START",
    "END",
    "4294967295",
];
