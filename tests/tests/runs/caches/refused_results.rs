//! Results that are refused when they are applied.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use superstep::cache::CachePolicy;
use superstep::checkpoint::MemoryCheckpointer;
use superstep::reducers::ReduceError;
use superstep::{ContextWith, END, ErrorKind, Graph, GraphState, START, StateGraph};

use super::RecordingCache;
use crate::engine::trace::block_on;

fn bounded(sum: &mut u32, delta: u32) -> Result<(), ReduceError> {
    *sum =
        sum.checked_add(delta).filter(|sum| *sum <= 100).ok_or_else(|| ReduceError::new("more than 100"))?;
    Ok(())
}

#[derive(GraphState, Clone, Debug)]
struct Sum {
    #[state(input, reducer = bounded)]
    sum: u32,
}

/// The amount that the node adds, and the number of its executions.
#[derive(Default)]
struct World {
    adds: AtomicU32,
    runs: AtomicU32,
}

async fn add(_: &Sum, cx: &ContextWith<World>) -> SumUpdate {
    let world = cx.context();
    world.runs.fetch_add(1, Ordering::SeqCst);
    Sum::update().sum(world.adds.load(Ordering::SeqCst))
}

fn adding(cache: &RecordingCache) -> Graph<Sum, World> {
    let graph = StateGraph::<Sum>::with_context::<World>().edge(START, add).edge(add, END);
    graph.cache(add, CachePolicy::by(|_: &Sum| "sum")).compile().unwrap().with_cache(cache.clone())
}

#[test]
fn result_refused_by_a_reducer_is_not_cached() {
    block_on(async {
        let (cache, world) = (RecordingCache::default(), Arc::new(World::default()));
        world.adds.store(101, Ordering::SeqCst);
        for _ in 0..2 {
            let error =
                adding(&cache).run(Sum::input().sum(0_u32)).context(Arc::clone(&world)).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Reducer { .. }), "{error}");
        }
        assert_eq!(cache.take(), [r#"get "sum""#; 2]);
        assert_eq!(world.runs.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn refused_cache_hit_makes_the_node_run() {
    block_on(async {
        let (cache, world) = (RecordingCache::default(), Arc::new(World::default()));
        world.adds.store(60, Ordering::SeqCst);
        let graph = adding(&cache);
        graph.run(Sum::input().sum(0_u32)).context(Arc::clone(&world)).await.unwrap();
        // The cached result fits the first input but not this one.
        let threads = graph.with_checkpointer(MemoryCheckpointer::new());
        let thread = threads.thread("full");
        let error = thread.run(Sum::input().sum(50_u32)).context(Arc::clone(&world)).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Reducer { .. }), "{error}");
        assert_eq!(world.runs.load(Ordering::SeqCst), 1, "the result was found in the cache");
        cache.take();
        // The node now returns a result that fits.
        world.adds.store(10, Ordering::SeqCst);
        let done = thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(done.state().sum, 60);
        assert_eq!(world.runs.load(Ordering::SeqCst), 2);
        assert_eq!(cache.take(), [r#"put "sum""#], "the new result is cached");
        let done = thread.run(Sum::input().sum(0_u32)).context(Arc::clone(&world)).await.unwrap();
        assert_eq!((done.state().sum, world.runs.load(Ordering::SeqCst)), (70, 2));
    });
}

#[test]
fn in_memory_run_recovers_from_a_refused_hit() {
    block_on(async {
        let (cache, world) = (RecordingCache::default(), Arc::new(World::default()));
        world.adds.store(60, Ordering::SeqCst);
        let graph = adding(&cache);
        graph.run(Sum::input().sum(0_u32)).context(Arc::clone(&world)).await.unwrap();
        world.adds.store(10, Ordering::SeqCst);
        let mut run = graph.run(Sum::input().sum(50_u32)).context(Arc::clone(&world)).start().unwrap();
        run.step().await.unwrap_err();
        assert!(run.step().await.unwrap());
        assert_eq!(run.state().sum, 60);
    });
}

#[derive(GraphState, Clone, Debug)]
struct Plain {
    value: u8,
}

async fn one(_: &Plain) -> PlainUpdate {
    Plain::update().value(1)
}

async fn two(_: &Plain) -> PlainUpdate {
    Plain::update().value(2)
}

#[test]
fn conflicting_result_is_not_cached() {
    block_on(async {
        let cache = RecordingCache::default();
        let graph = StateGraph::<Plain>::new()
            .edge(START, (one, two))
            .edge(one, END)
            .edge(two, END)
            .cache(one, CachePolicy::by(|_: &Plain| 1))
            .compile()
            .unwrap()
            .with_cache(cache.clone());
        graph.run(Plain::input()).await.unwrap_err();
        assert_eq!(cache.take(), ["get 1"]);
    });
}
