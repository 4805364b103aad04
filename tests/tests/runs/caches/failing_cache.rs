//! Failing caches and unreadable results: the run continues without the cache and reports the reason.

use std::sync::Arc;

use superstep::EventKind;

use super::{Fault, Page, RecordingCache, graph};
use crate::engine::trace::{Journal, block_on, workers};

/// Runs the graph and returns the reasons in `TaskNotCached` events and the number of executed nodes.
async fn run_with(cache: &RecordingCache) -> (Vec<String>, usize) {
    let (graph, journal) = (graph(cache.clone()), Arc::new(Journal::default()));
    let mut reasons = Vec::new();
    let outcome = graph
        .run(Page::input("/a"))
        .context(Arc::clone(&journal))
        .stream()
        .for_each(|event| {
            if let EventKind::TaskNotCached { node, task, reason, .. } = &event.kind {
                reasons.push(format!("{node} {task}: {reason}"));
                let event = serde_json::to_value(event).unwrap();
                assert_eq!(
                    (&event["type"], &event["reason"]),
                    (&"task_not_cached".into(), &reason.as_str().into())
                );
            }
        })
        .await
        .unwrap();
    assert_eq!(outcome.state().text, "text of /a");
    (reasons, journal.take().len())
}

#[test]
fn failing_cache_does_not_fail_the_run() {
    let cases = [
        (Fault::Get, "fetch 0: the cache could not look it up: the disk is gone"),
        (Fault::Put, "fetch 0: the cache could not put it: the disk is full"),
        (Fault::GetPanics, "fetch 0: the cache could not do its work: it panicked: no cache today"),
        (Fault::PutPanics, "fetch 0: the cache could not do its work: it panicked: no cache today"),
    ];
    for (fault, reason) in cases {
        assert_eq!(
            block_on(run_with(&RecordingCache::failing(fault))),
            (vec![reason.to_owned()], 1),
            "{fault:?}"
        );
        let cache = RecordingCache::failing(fault);
        workers(2).block_on(run_with(&cache));
        assert_eq!(block_on(run_with(&cache)).0, [reason], "the cache is asked again");
    }
}

#[test]
fn invalid_cached_result_is_ignored_and_replaced() {
    let cases = [
        ("{", "the entry is not a cached result"),
        (r#"{"writes":[],"later":1}"#, "the entry is not a cached result"),
        (r#"{"writes":[{"field":"text","form":"update"}]}"#, "the value of field `text` is missing"),
        (
            r#"{"writes":[{"field":"text","form":"update","json":7}]}"#,
            "the stored write to field `text` cannot be read: invalid type: integer `7`, expected a string at line 1 column 1",
        ),
        (
            r#"{"writes":[{"field":"text","form":"update","json":"a"},{"field":"title","form":"update","json":"b"}]}"#,
            "the state has no field `title`",
        ),
        (r#"{"exits":[{"exit":"On"}]}"#, "the node's route has no exit `On`"),
    ];
    for (json, reason) in cases {
        let cache = RecordingCache::failing(Fault::Corrupt(json));
        assert_eq!(block_on(run_with(&cache)), (vec![format!("fetch 0: {reason}")], 1), "{json}");
        cache.set_fault(None);
        assert_eq!(
            block_on(run_with(&cache)),
            (Vec::new(), 0),
            "the new result has replaced the invalid one"
        );
    }
}
