//! Cache keys.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use superstep::cache::{CachePolicy, MemoryCache};
use superstep::policy::{Policy, Retry};
use superstep::{
    Context, ContextWith, END, ErrorKind, Graph, GraphState, NodeFailure, START, StateGraph, StateView,
};

use super::{Page, PageUpdate, RecordingCache, draft, fetch, run};
use crate::engine::trace::{Journal, block_on};

fn cached(graph: StateGraph<Page, Journal>, cache: &RecordingCache) -> Graph<Page, Journal> {
    graph.compile().unwrap().with_cache(cache.clone())
}

#[derive(StateView)]
#[view(of = Page)]
struct Where<'s> {
    url: &'s String,
}

#[derive(Serialize)]
struct Wide {
    url: String,
    by_name: HashMap<String, u8>,
}

#[test]
fn key_function_reads_all_node_parameters() {
    block_on(async {
        let (cache, journal) = (RecordingCache::default(), Arc::new(Journal::default()));
        fn url(page: &Page) -> &str {
            &page.url
        }
        run(&cached(draft().cache(fetch, CachePolicy::by(url)), &cache), &journal, "/borrowed").await;
        let view = draft().cache(fetch, CachePolicy::by(|view: Where<'_>| view.url.clone()));
        run(&cached(view, &cache), &journal, "/a").await;
        let name_and_state = draft().cache(
            fetch,
            CachePolicy::by(|cx: &Context, page: &Page| (cx.node().to_owned(), page.url.len())),
        );
        run(&cached(name_and_state, &cache), &journal, "/a").await;
        let context =
            draft().cache(fetch, CachePolicy::by(|cx: &ContextWith<Journal>| cx.context().has("nothing")));
        run(&cached(context, &cache), &journal, "/a").await;
        let wide = |page: &Page| Wide {
            url: page.url.clone(),
            by_name: ["b", "a", "c"].into_iter().map(|name| (name.to_owned(), 1)).collect(),
        };
        run(&cached(draft().cache(fetch, CachePolicy::by(wide)), &cache), &journal, "/a").await;
        assert_eq!(
            cache.take(),
            [
                r#"get "/borrowed""#,
                r#"put "/borrowed""#,
                r#"get "/a""#,
                r#"put "/a""#,
                r#"get ["fetch",2]"#,
                r#"put ["fetch",2]"#,
                "get false",
                "put false",
                r#"get {"by_name":{"a":1,"b":1,"c":1},"url":"/a"}"#,
                r#"put {"by_name":{"a":1,"b":1,"c":1},"url":"/a"}"#,
            ]
        );
    });
}

#[test]
fn long_keys_stay_distinct() {
    block_on(async {
        let (graph, journal) = (super::graph(MemoryCache::new()), Arc::new(Journal::default()));
        let long = |last: char| format!("/{}{last}", "x".repeat(100_000));
        for url in [long('a'), long('b'), long('a')] {
            run(&graph, &journal, &url).await;
        }
        assert_eq!(journal.take().len(), 2);
    });
}

struct Broken;

impl Serialize for Broken {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("cannot be written")
    }
}

async fn rescue(_: &Page, _: &NodeFailure) -> PageUpdate {
    Page::update().text("sorry")
}

#[test]
fn invalid_key_fails_the_node_without_retry() {
    let error = |graph: StateGraph<Page, Journal>| {
        let graph = graph.policy(fetch, Policy::new().retry(Retry::attempts(5))).on_error(fetch, rescue);
        let graph = cached(graph, &RecordingCache::default());
        block_on(async {
            let journal = Arc::new(Journal::default());
            let error = graph.run(Page::input("/a")).context(Arc::clone(&journal)).await.unwrap_err();
            assert!(journal.take().is_empty(), "the node has not run");
            let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
            assert_eq!((first.node.as_str(), first.attempt), ("fetch", 1));
            (first.error.to_string(), first.panicked)
        })
    };
    let panics = CachePolicy::by(|page: &Page| if page.url.is_empty() { 1 } else { panic!("no key today") });
    assert_eq!(error(draft().cache(fetch, panics)), ("no key today".to_owned(), true));
    let not_finite = CachePolicy::by(|_: &Page| vec![1.0, f64::NAN]);
    assert_eq!(
        error(draft().cache(fetch, not_finite)),
        (
            "its cache key cannot be stored, because of the value at `$[1]`: JSON cannot represent NaN or infinity"
                .to_owned(),
            false
        )
    );
    assert_eq!(
        error(draft().cache(fetch, CachePolicy::by(|_: &Page| Broken))).0,
        "its cache key cannot be stored: its code panicked: cannot be written"
    );
}

mod old {
    use superstep::GraphState;

    #[derive(GraphState, Clone)]
    pub(super) struct Page {
        #[state(input)]
        pub(super) url: String,
        pub(super) text: String,
    }
}

mod new {
    use superstep::GraphState;
    use superstep::state::{MigrationError, Stored};

    fn migrate(_: u32, _: &mut Stored) -> Result<(), MigrationError> {
        Ok(())
    }

    #[derive(GraphState, Clone)]
    #[state(version = 1, migrate = migrate)]
    pub(super) struct Page {
        #[state(input)]
        pub(super) url: String,
        pub(super) text: String,
    }
}

#[test]
fn results_of_another_state_version_are_ignored() {
    async fn before(_: &old::Page) -> old::PageUpdate {
        old::Page::update().text("before")
    }
    async fn after(_: &new::Page) -> new::PageUpdate {
        new::Page::update().text("after")
    }
    block_on(async {
        let cache = MemoryCache::new();
        let (before, after) = (superstep::named("same", before), superstep::named("same", after));
        let graph = StateGraph::<old::Page>::new().edge(START, &before).edge(&before, END);
        let graph = graph.cache(&before, CachePolicy::by(|_: &old::Page| 1)).compile().unwrap();
        let page = graph.with_cache(cache.clone()).run(old::Page::input("/a")).await.unwrap().into_state();
        assert_eq!((page.text.as_str(), page.url.as_str()), ("before", "/a"));
        let graph = StateGraph::<new::Page>::new().edge(START, &after).edge(&after, END);
        let graph = graph.cache(&after, CachePolicy::by(|_: &new::Page| 1)).compile().unwrap();
        let page = graph.with_cache(cache).run(new::Page::input("/a")).await.unwrap().into_state();
        assert_eq!((page.text.as_str(), page.url.as_str()), ("after", "/a"));
    });
}

#[test]
fn key_function_reads_a_flattened_state() {
    #[derive(GraphState, Clone)]
    struct Outer {
        #[state(flatten, input)]
        page: Page,
    }
    async fn look(outer: &Outer) -> OuterUpdate {
        Outer::update().page(Page::update().text(outer.page.url.clone()))
    }
    block_on(async {
        let cache = RecordingCache::default();
        let graph = StateGraph::<Outer>::new()
            .edge(START, look)
            .edge(look, END)
            .cache(look, CachePolicy::by(|page: &Page| page.url.clone()))
            .compile()
            .unwrap()
            .with_cache(cache.clone());
        for _ in 0..2 {
            let outer = graph.run(Outer::input(Page::input("/a"))).await.unwrap().into_state();
            assert_eq!(outer.page.text, "/a");
        }
        assert_eq!(cache.take(), [r#"get "/a""#, r#"put "/a""#, r#"get "/a""#]);
    });
}
