//! Updates in the place of a node whose route is given by name.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use superstep::thread::{AsNode, Thread};
use superstep::{ContextWith, END, ErrorKind, Graph, Route, START};

use tests::stores::{TestStore, on_every_store};
use tests::story::{Probe, Story, StoryUpdate, begin, log_of, next, recording_nodes, say, story};

recording_nodes! { draft accept other }

#[derive(Serialize, Deserialize)]
struct Topic {
    title: String,
}

#[derive(Route)]
#[expect(dead_code, reason = "the routes are named")]
enum Verdict {
    #[to(draft)]
    Rework,
    #[to(accept)]
    Accept,
    #[to(research)]
    Research(Topic),
    #[to(other)]
    Left,
    #[to(other)]
    Right,
    #[to(END)]
    Stop,
}

async fn review(_: &Story) -> Vec<Verdict> {
    vec![Verdict::Stop]
}

async fn research(topic: &Topic, cx: &ContextWith<Probe>) -> StoryUpdate {
    cx.context().note("research");
    say(topic.title.clone())
}

fn graph() -> Graph<Story, Probe> {
    let graph = story().edge(START, draft).edge(draft, review).node(review).edge(accept, END);
    graph.edge(research, END).edge(other, END).compile().unwrap()
}

async fn finished(store: &TestStore) -> (Thread<Story, Probe>, Arc<Probe>) {
    let (thread, probe) = (store.thread(&graph()), Arc::new(Probe::default()));
    thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
    (thread, probe)
}

#[tokio::test]
async fn route_is_named_by_its_variant_or_its_target() {
    on_every_store(async |store| {
        let (thread, probe) = finished(store).await;
        let place = || AsNode::named("review");
        for (place, planned) in [
            (place().with_route_named("Rework"), "draft"),
            (place().with_route_named("draft"), "draft"),
            (place().with_route_named("Left"), "other"),
            (place().with_route_named("END"), ""),
            (place().with_route_named("accept").with_route_named("Right"), "accept other"),
            (
                place().with_packet_named("Research", json!({"title": "tea"})).with_route_named("Accept"),
                "accept research",
            ),
            (place().with_packet_named("research", json!({"title": "tea"})), "research"),
        ] {
            thread.update(say("by hand"), place).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(next(&store.thread(&graph()).state().await.unwrap().unwrap()), planned);
        }
        let end = store.thread(&graph()).resume(()).context(probe).await.unwrap();
        assert!(log_of(end.state()).ends_with("by hand tea"), "{}", log_of(end.state()));
    })
    .await;
}

#[tokio::test]
async fn route_that_the_node_lacks_is_refused_with_those_it_has() {
    on_every_store(async |store| {
        let (thread, probe) = finished(store).await;
        let before = thread.state().await.unwrap().unwrap();
        let place = || AsNode::named("review");
        for (place, reason) in [
            (
                place().with_route_named("Nowhere"),
                "it has no route `Nowhere`, but `Rework` (to `draft`), `Accept` (to `accept`), `Research` (to `research`, \
                 with a packet of type `",
            ),
            (place().with_route_named("other"), "several routes lead to `other`: choose `Left` (to `other`), `Right`"),
            (place().with_route_named("Research"), "give it with `with_packet_named(..)`"),
            (place().with_packet_named("Accept", 1), "route `Accept` has no packet"),
            (place().with_packet_named("Research", json!({"title": 1})), "at `$.title`: invalid type: integer `1`"),
            (place(), "choose one with `with_route(..)` or `with_route_named(..)`: `Rework` (to `draft`), `Accept`"),
            (AsNode::named("draft").with_route_named("Accept"), "it has no routes"),
            (AsNode::named("nowhere"), "the graph has no such node, but `draft`, `review`"),
        ] {
            let refused = thread.update(say("by hand"), place).context(Arc::clone(&probe)).await.unwrap_err();
            assert!(matches!(refused.kind(), ErrorKind::InvalidAsNode { .. }), "{refused}");
            assert!(refused.to_string().contains(reason), "{refused}");
        }
        assert_eq!(thread.state().await.unwrap().unwrap().id, before.id);
    })
    .await;
}
