use std::time::Duration;

/// The durations of one measurement.
pub(crate) struct Times {
    sorted: Vec<Duration>,
    elapsed: Duration,
}

impl Times {
    pub(crate) fn new(mut times: Vec<Duration>, elapsed: Duration) -> Self {
        times.sort();
        Self { sorted: times, elapsed }
    }

    /// Returns a percentile in milliseconds.
    fn percentile(&self, percent: usize) -> f64 {
        let at = (self.sorted.len().saturating_sub(1)) * percent / 100;
        self.sorted.get(at).copied().unwrap_or_default().as_secs_f64() * 1e3
    }

    pub(crate) fn print(&self, what: &str, clients: usize) {
        let rate = self.sorted.len() as f64 / self.elapsed.as_secs_f64();
        println!(
            "| {what} | {clients} | {} | {rate:.1} | {:.2} | {:.2} |",
            self.sorted.len(),
            self.percentile(50),
            self.percentile(99)
        );
    }
}
