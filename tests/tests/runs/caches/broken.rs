//! A cache that fails, and a result that cannot be read: the run goes on as if there were no cache, and says so.

use std::sync::Arc;

use superstep::EventKind;

use super::{Fault, Page, Shown, graph};
use crate::engine::trace::{Journal, here, workers};

/// What happened in a run: which node did what, and why a result was not cached.
async fn told(cache: &Shown) -> (Vec<String>, usize) {
    let (graph, journal) = (graph(cache.clone()), Arc::new(Journal::default()));
    let mut told = Vec::new();
    let outcome = graph
        .run(Page::input("/a"))
        .context(Arc::clone(&journal))
        .stream()
        .for_each(|event| {
            if let EventKind::TaskNotCached { node, task, reason, .. } = &event.kind {
                told.push(format!("{node} {task}: {reason}"));
                let json = serde_json::to_value(event).unwrap();
                assert_eq!(
                    (&json["type"], &json["reason"]),
                    (&"task_not_cached".into(), &reason.as_str().into())
                );
            }
        })
        .await
        .unwrap();
    assert_eq!(outcome.state().text, "text of /a");
    (told, journal.take().len())
}

#[test]
fn a_cache_that_fails_costs_no_run() {
    let cases = [
        (Fault::Get, "fetch 0: the cache could not look it up: the disk is gone"),
        (Fault::Put, "fetch 0: the cache could not put it: the disk is full"),
        (Fault::GetPanics, "fetch 0: the cache could not do its work: it panicked: no cache today"),
        (Fault::PutPanics, "fetch 0: the cache could not do its work: it panicked: no cache today"),
    ];
    for (fault, reason) in cases {
        assert_eq!(here(told(&Shown::failing(fault))), (vec![reason.to_owned()], 1), "{fault:?}");
        let cache = Shown::failing(fault);
        workers(2).block_on(told(&cache));
        assert_eq!(here(told(&cache)).0, [reason], "it is asked again");
    }
}

#[test]
fn a_result_that_another_program_has_left_is_not_used_in_part() {
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
    for (spoilt, reason) in cases {
        let cache = Shown::failing(Fault::Spoilt(spoilt));
        assert_eq!(here(told(&cache)), (vec![format!("fetch 0: {reason}")], 1), "{spoilt}");
        cache.fail(None);
        assert_eq!(here(told(&cache)), (Vec::new(), 0), "what the node has returned has taken its place");
    }
}
