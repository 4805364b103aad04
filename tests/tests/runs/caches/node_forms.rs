//! Caching of struct nodes, named nodes and packet nodes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::cache::{CachePolicy, MemoryCache};
use superstep::{ContextWith, END, Node, PacketNode, Route, START, StateGraph, named};

use super::{Page, PageUpdate, run};
use crate::engine::trace::{Journal, block_on};

struct Fetcher {
    host: &'static str,
}

impl Node<ContextWith<Journal>> for Fetcher {
    type Reads = Page;
    type Output = PageUpdate;

    async fn run(&self, page: &Page, cx: &ContextWith<Journal>) -> PageUpdate {
        cx.context().note(self.host);
        Page::update().log([format!("{}{}", self.host, page.url)])
    }
}

#[derive(Serialize, Deserialize)]
struct Part(u8);

struct Reader;

impl PacketNode<ContextWith<Journal>> for Reader {
    type Reads = Page;
    type Packet = Part;
    type Output = PageUpdate;

    async fn run(&self, _: &Page, part: &Part, cx: &ContextWith<Journal>) -> PageUpdate {
        cx.context().note(format!("part {}", part.0));
        Page::update().log([format!("part {}", part.0)])
    }
}

#[derive(Route)]
enum Parts {
    #[to(Reader)]
    Part(Part),
}

async fn split(page: &Page) -> Vec<Parts> {
    (0..page.url.len()).map(|part| Parts::Part(Part(u8::try_from(part).unwrap()))).collect()
}

#[test]
fn struct_named_and_packet_nodes_are_cached() {
    block_on(async {
        let (here, there) =
            (named("here", Fetcher { host: "here" }), named("there", Fetcher { host: "there" }));
        let graph = StateGraph::<Page>::with_context::<Journal>()
            .edge(START, &here)
            .edge(&here, &there)
            .edge(&there, split)
            .node(split)
            .edge(Reader, END)
            .cache(&here, CachePolicy::by(|page: &Page| page.url.clone()))
            .cache(&there, CachePolicy::by(|page: &Page| page.url.clone()))
            .cache(Reader, CachePolicy::by(|part: &Part| part.0))
            .compile();
        let graph = graph.unwrap().with_cache(MemoryCache::new());
        let journal = Arc::new(Journal::default());
        let log = run(&graph, &journal, "/a").await.log;
        assert_eq!(log, ["here/a", "there/a", "part 0", "part 1"]);
        assert_eq!(journal.take(), ["here", "there", "part 0", "part 1"]);
        assert_eq!(run(&graph, &journal, "/a").await.log, log);
        assert!(journal.take().is_empty());
        run(&graph, &journal, "/bc").await;
        assert_eq!(journal.take(), ["here", "there", "part 2"]);
    });
}
