use std::time::{Instant, SystemTime};

/// What time it is.
///
/// Waits that outlive the process are kept as times of the system's clock, and waited for with the runtime's. A test winds the
/// runtime's; the system's goes along here, so that both say the same.
pub(crate) fn now() -> SystemTime {
    let (system, here) = (SystemTime::now(), Instant::now());
    let wound = tokio::time::Instant::now().into_std().saturating_duration_since(here);
    system.checked_add(wound).unwrap_or(system)
}
