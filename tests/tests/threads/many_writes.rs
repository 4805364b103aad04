//! A stored result has the order of its writes, however many they are.

use std::sync::Arc;

use superstep::state::Update as _;
use superstep::{ContextWith, END, NodeError, START};
use tests::stores::TestStore;
use tests::story::{Probe, Story, StoryUpdate, begin, enter, recording_nodes, say, story};

recording_nodes! { beside }

#[tokio::test]
async fn stored_result_with_many_writes_keeps_their_order() {
    const WRITES: usize = 10_020;
    async fn many(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
        enter(cx, "many").await?;
        Ok((0..WRITES).fold(Story::update(), |update, nth| update.and(say(nth.to_string()))))
    }
    let graph = story().edge(START, (many, beside)).edge(many, END).edge(beside, END).compile().unwrap();
    let (store, probe) = (TestStore::memory(), Arc::new(Probe::default()));
    let thread = store.thread(&graph);
    probe.set_failing(&["beside"]);
    thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap_err();
    probe.set_failing(&[]);
    assert!(probe.ran().contains("many"));
    let ended = thread.resume(()).context(Arc::clone(&probe)).await.unwrap().into_state();
    assert_eq!(probe.ran(), "beside", "its result was stored");
    let wanted: Vec<String> = (0..WRITES).map(|nth| nth.to_string()).collect();
    let differs = ended.log[1..].iter().zip(&wanted).position(|(found, wanted)| found != wanted);
    assert_eq!(differs, None, "the first write in another place");
}
