//! Times two programs in turn, A B A B …, so that a machine that slows down slows both of them.

use std::time::Duration;

/// Returns `true` for a measurement (`cargo bench`), and `false` for a check that the bench runs (`cargo test --benches`).
pub fn measuring() -> bool {
    std::env::args().any(|arg| arg == "--bench")
}

/// The number of rounds and of iterations per round: `rounds` and `full`, or 1 and 1 when not measuring.
pub fn extent(rounds: usize, full: u32) -> (usize, u32) {
    if measuring() { (rounds, full) } else { (1, 1) }
}

/// Returns `true` if the command line names this part of the bench, or none.
pub fn is_selected(part: &str) -> bool {
    let mut named = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).peekable();
    named.peek().is_none() || named.any(|name| name == part)
}

/// The result of a comparison.
#[derive(Debug)]
pub struct Pair {
    /// The median time of an iteration of our program.
    pub ours: Duration,
    /// The median time of an iteration of the baseline.
    pub theirs: Duration,
    /// The median of the ratios of the pairs.
    pub ratio: f64,
}

/// Runs both programs `rounds` times in turn. Each returns the time of one iteration.
pub fn pair(rounds: usize, mut ours: impl FnMut() -> Duration, mut theirs: impl FnMut() -> Duration) -> Pair {
    let _ = (theirs(), ours());
    let times: Vec<(Duration, Duration)> = (0..rounds).map(|_| (theirs(), ours())).collect();
    Pair {
        ours: Duration::from_secs_f64(median(times.iter().map(|(_, ours)| ours.as_secs_f64()))),
        theirs: Duration::from_secs_f64(median(times.iter().map(|(theirs, _)| theirs.as_secs_f64()))),
        ratio: median(times.iter().map(|(theirs, ours)| ours.as_secs_f64() / theirs.as_secs_f64())),
    }
}

/// The median of the values.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Pair {
    /// Prints the result in one line. `target` is the promised ratio.
    pub fn report(&self, question: &str, target: f64) {
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
