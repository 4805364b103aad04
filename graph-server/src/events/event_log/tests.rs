use super::*;
use crate::events::{LogReader, Missed};

fn event(n: u64) -> LoggedEvent {
    LoggedEvent::new(None, "custom", n.to_string())
}

fn log(keeps_all: bool) -> Arc<EventLog> {
    EventLog::new(1, keeps_all, 1 << 20, &LogBudget::new(usize::MAX))
}

async fn rest(reader: &mut LogReader) -> Vec<u64> {
    let mut seen = Vec::new();
    while let Some(Ok(events)) = reader.next().await {
        for (id, event) in events {
            assert_eq!(id.n.to_string(), event.data);
            seen.push(id.n);
        }
    }
    seen
}

#[tokio::test]
async fn readers_that_come_back_see_each_event_once() {
    let log = log(true);
    for n in 1..=10 {
        log.push(event(n));
    }
    for seen in 0..=10 {
        let after = Resume::After(EventId { epoch: 1, n: seen, position: None });
        let mut reader = log.read(after);
        let mut begun = Vec::new();
        if seen < 10 {
            begun = reader.next().await.unwrap().unwrap().iter().map(|(id, _)| id.n).collect();
        }
        assert_eq!(begun, (seen + 1..=10).collect::<Vec<_>>());
    }
    let mut live = log.read(Resume::Now);
    let mut all = log.read(Resume::All);
    log.push(event(11));
    log.end();
    assert_eq!(rest(&mut live).await, [11]);
    assert_eq!(rest(&mut all).await, (1..=11).collect::<Vec<_>>());
    // After the end, a reader without an id gets an empty stream.
    assert_eq!(rest(&mut log.read(Resume::Now)).await, [0; 0]);
    assert_eq!(rest(&mut log.read(Resume::All)).await.len(), 11);
}

#[tokio::test]
async fn read_events_are_removed() {
    let log = log(false);
    let (mut fast, mut slow) = (log.read(Resume::All), log.read(Resume::All));
    for n in 1..=1_000 {
        log.push(event(n));
        if n % 10 == 0 {
            fast.next().await.unwrap().unwrap();
        }
    }
    assert!(log.lock().events.len() >= 1_000);
    assert_eq!(slow.next().await.unwrap().unwrap().len(), BATCH_SEEN);
    drop(slow);
    assert!(log.lock().events.len() < 2 * TRIM_AT, "{}", log.lock().events.len());
    drop(fast);
    log.push(event(1_001));
    // One after the other: both lock the log.
    assert_eq!(log.lock().events.len(), 0);
    assert_eq!(log.bytes(), 0);
    let mut late = log.read(Resume::Now);
    log.push(event(1_002));
    log.end();
    assert_eq!(rest(&mut late).await, [1_002]);
}

const BATCH_SEEN: usize = 64;

#[tokio::test]
async fn slow_readers_are_told_that_they_missed_events() {
    let log = EventLog::new(1, true, 10 * event(10).size(), &LogBudget::new(usize::MAX));
    let mut slow = log.read(Resume::All);
    for n in 1..=100 {
        log.push(event(n));
    }
    assert!(log.lock().events.len() <= 10);
    assert_eq!(slow.next().await.unwrap().unwrap_err(), Missed);
    assert!(log.bytes() <= log.limit);
}

#[tokio::test]
async fn logs_above_their_common_limit_keep_little() {
    let large = |n: u64| LoggedEvent { data: "x".repeat(10_000), ..event(n) };
    let budget = LogBudget::new(1 << 20);
    let logs: Vec<_> = (0..5).map(|_| EventLog::new(1, true, 1 << 20, &budget)).collect();
    for n in 0..100 {
        for log in &logs {
            log.push(large(n));
        }
    }
    let kept: usize = logs.iter().map(|log| log.bytes()).sum();
    assert!(kept < (1 << 20) + 5 * 20_000, "{kept}");
    // Each has its share, also one that comes later.
    assert!(logs.iter().all(|log| log.bytes() > 150_000));
    let late = EventLog::new(1, true, 1 << 20, &budget);
    (0..10).for_each(|n| late.push(large(n)));
    assert!(late.bytes() > 100_000);
    drop((logs, late));
    assert_eq!(budget.allowed(1 << 20), 1 << 20);
    // A log alone has all of its own limit.
    let log = EventLog::new(1, true, 1 << 20, &budget);
    (0..100).for_each(|n| log.push(large(n)));
    assert!(log.bytes() > 900_000, "{}", log.bytes());
}

#[tokio::test]
async fn waiting_readers_wake_up() {
    let log = log(false);
    let mut reader = log.read(Resume::Now);
    let reading = tokio::spawn(async move { rest(&mut reader).await });
    for n in 1..=200 {
        log.push(event(n));
        tokio::task::yield_now().await;
    }
    log.end();
    assert_eq!(reading.await.unwrap(), (1..=200).collect::<Vec<_>>());
}
