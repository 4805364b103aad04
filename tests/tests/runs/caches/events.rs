//! Cache hits in events.

use std::sync::Arc;

use serde_json::json;
use superstep::cache::MemoryCache;
use superstep::{EventKind, StreamMode};

use super::{Page, graph};
use crate::engine::trace::{Journal, block_on};

#[test]
fn task_finished_event_marks_cache_hits() {
    let (graph, journal) = (graph(MemoryCache::new()), Arc::new(Journal::default()));
    let mut seen = Vec::new();
    block_on(async {
        for _ in 0..2 {
            let run = graph.run(Page::input("/a")).context(Arc::clone(&journal));
            let modes = [StreamMode::Tasks, StreamMode::Updates];
            let listened = run.events(modes).stream().for_each(|event| {
                if let EventKind::TaskFinished { cached, .. } = event.kind {
                    assert_eq!(
                        serde_json::to_value(event).unwrap().get("cached"),
                        cached.then_some(json!(true)).as_ref()
                    );
                    seen.push(format!("cached: {cached}"));
                } else {
                    seen.push(event.kind.name().to_owned());
                }
            });
            listened.await.unwrap();
        }
    });
    let expected = |cached| {
        ["task_started".to_owned(), format!("cached: {cached}"), "update".to_owned(), "done".to_owned()]
    };
    assert_eq!(seen, [expected(false), expected(true)].concat());
}
