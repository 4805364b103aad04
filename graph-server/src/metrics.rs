//! Counters of the server, in the text format of Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::protocol::RunStatus;

/// What the server counts since its start.
#[derive(Debug, Default)]
pub(crate) struct Metrics(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    /// The ended runs by status.
    runs: BTreeMap<&'static str, u64>,
    /// The requests by method and path of their route.
    routes: BTreeMap<(&'static str, &'static str), RouteCounts>,
}

#[derive(Debug, Default)]
struct RouteCounts {
    statuses: BTreeMap<u16, u64>,
    /// The requests up to each of the [`BOUNDS`].
    buckets: [u64; BOUNDS.len()],
    seconds: f64,
}

/// The upper bounds of the buckets of a latency, in seconds.
const BOUNDS: [f64; 11] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0];

/// The numbers of now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauges {
    pub(crate) pending: usize,
    pub(crate) running: usize,
    pub(crate) streams: usize,
}

impl Metrics {
    /// Counts a run that has ended.
    pub(crate) fn run_ended(&self, status: RunStatus) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.runs.entry(status.name()).or_default() += 1;
    }

    /// Counts a request, and the time until its response has begun.
    pub(crate) fn request(&self, route: (&'static str, &'static str), status: u16, time: Duration) {
        let seconds = time.as_secs_f64();
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let route = counts.routes.entry(route).or_default();
        *route.statuses.entry(status).or_default() += 1;
        route.seconds += seconds;
        for (bucket, bound) in route.buckets.iter_mut().zip(BOUNDS) {
            *bucket += u64::from(seconds <= bound);
        }
    }

    /// Returns the text.
    pub(crate) fn text(&self, now: Gauges) -> String {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = write(&mut text, &counts, now);
        text
    }
}

fn write(text: &mut String, counts: &Counts, now: Gauges) -> std::fmt::Result {
    let Gauges { pending, running, streams } = now;
    head(text, "superstep_runs_open", "gauge", "Runs that have not ended.")?;
    writeln!(text, "superstep_runs_open{{status=\"pending\"}} {pending}")?;
    writeln!(text, "superstep_runs_open{{status=\"running\"}} {running}")?;
    head(text, "superstep_streams_open", "gauge", "Responses that wait for a run or stream its events.")?;
    writeln!(text, "superstep_streams_open {streams}")?;
    head(text, "superstep_runs_total", "counter", "Runs that have ended.")?;
    for (status, count) in &counts.runs {
        writeln!(text, "superstep_runs_total{{status=\"{status}\"}} {count}")?;
    }
    head(text, "superstep_requests_total", "counter", "Requests.")?;
    for ((method, path), route) in &counts.routes {
        for (status, count) in &route.statuses {
            let labels = format_args!("method=\"{method}\",path=\"{path}\",status=\"{status}\"");
            writeln!(text, "superstep_requests_total{{{labels}}} {count}")?;
        }
    }
    head(text, "superstep_request_seconds", "histogram", "Time until a response has begun.")?;
    for ((method, path), route) in &counts.routes {
        let labels = format!("method=\"{method}\",path=\"{path}\"");
        let count: u64 = route.statuses.values().sum();
        for (bound, bucket) in BOUNDS.iter().zip(route.buckets) {
            writeln!(text, "superstep_request_seconds_bucket{{{labels},le=\"{bound}\"}} {bucket}")?;
        }
        writeln!(text, "superstep_request_seconds_bucket{{{labels},le=\"+Inf\"}} {count}")?;
        writeln!(text, "superstep_request_seconds_sum{{{labels}}} {}", route.seconds)?;
        writeln!(text, "superstep_request_seconds_count{{{labels}}} {count}")?;
    }
    Ok(())
}

fn head(text: &mut String, name: &str, kind: &str, about: &str) -> std::fmt::Result {
    writeln!(text, "# HELP {name} {about}\n# TYPE {name} {kind}")
}
