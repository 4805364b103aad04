//! Times two programs in turn, A B A B …, so that a machine that gets slower gets slower for both.

use std::time::Duration;

/// Whether this is a bench (`cargo bench`) or only a check that the benches run (`cargo test --benches`).
pub(crate) fn measuring() -> bool {
    std::env::args().any(|arg| arg == "--bench")
}

/// How many rounds of `full` iterations: 1 and 1 when not measuring.
pub(crate) fn extent(rounds: usize, full: u32) -> (usize, u32) {
    if measuring() { (rounds, full) } else { (1, 1) }
}

/// The medians of two programs, and of their ratio pair by pair.
pub(crate) struct Pair {
    pub(crate) ours: Duration,
    pub(crate) theirs: Duration,
    pub(crate) ratio: f64,
}

/// Runs both programs `rounds` times in turn; each gives back how long one iteration took.
pub(crate) fn pair(
    rounds: usize,
    mut ours: impl FnMut() -> Duration,
    mut theirs: impl FnMut() -> Duration,
) -> Pair {
    let _ = (theirs(), ours());
    let times: Vec<(Duration, Duration)> = (0..rounds).map(|_| (theirs(), ours())).collect();
    Pair {
        ours: Duration::from_secs_f64(median(times.iter().map(|(_, ours)| ours.as_secs_f64()))),
        theirs: Duration::from_secs_f64(median(times.iter().map(|(theirs, _)| theirs.as_secs_f64()))),
        ratio: median(times.iter().map(|(theirs, ours)| ours.as_secs_f64() / theirs.as_secs_f64())),
    }
}

/// The middle value.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Pair {
    /// Prints a line of the result; `target` is the ratio that is promised.
    pub(crate) fn report(&self, question: &str, target: f64) {
        if measuring() {
            let kept = if self.ratio <= target { "kept" } else { "MISSED" };
            println!(
                "{question}: {:?} against {:?}, ratio {:.2} (promised ≤ {target}: {kept})",
                self.ours, self.theirs, self.ratio
            );
        } else {
            println!("{question}: runs");
        }
    }
}
