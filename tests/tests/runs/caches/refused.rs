//! A result that is refused when it is applied: it is not kept, and one that was found is not found for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use superstep::cache::CachePolicy;
use superstep::checkpoint::MemoryCheckpointer;
use superstep::reducers::ReduceError;
use superstep::{ContextWith, END, ErrorKind, Graph, GraphState, START, StateGraph};

use super::Shown;
use crate::engine::trace::here;

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

/// What the node adds, and how often it has run.
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

fn adding(cache: &Shown) -> Graph<Sum, World> {
    let graph = StateGraph::<Sum>::with_context::<World>().edge(START, add).edge(add, END);
    graph.cache(add, CachePolicy::by(|_: &Sum| "sum")).compile().unwrap().with_cache(cache.clone())
}

#[test]
fn what_a_reducer_refuses_is_not_kept() {
    here(async {
        let (cache, world) = (Shown::default(), Arc::new(World::default()));
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
fn a_found_result_that_is_refused_is_not_looked_for_again() {
    here(async {
        let (cache, world) = (Shown::default(), Arc::new(World::default()));
        world.adds.store(60, Ordering::SeqCst);
        let graph = adding(&cache);
        graph.run(Sum::input().sum(0_u32)).context(Arc::clone(&world)).await.unwrap();
        // What fits one thread does not fit another.
        let threads = graph.with_checkpointer(MemoryCheckpointer::new());
        let thread = threads.thread("full");
        let error = thread.run(Sum::input().sum(50_u32)).context(Arc::clone(&world)).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Reducer { .. }), "{error}");
        assert_eq!(world.runs.load(Ordering::SeqCst), 1, "it was found");
        cache.take();
        // By now the node would do better.
        world.adds.store(10, Ordering::SeqCst);
        let done = thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(done.state().sum, 60);
        assert_eq!(world.runs.load(Ordering::SeqCst), 2);
        assert_eq!(cache.take(), [r#"put "sum""#], "and what it returned is there for everybody");
        let done = thread.run(Sum::input().sum(0_u32)).context(Arc::clone(&world)).await.unwrap();
        assert_eq!((done.state().sum, world.runs.load(Ordering::SeqCst)), (70, 2));
    });
}

#[test]
fn a_run_in_memory_that_is_stepped_on_recovers_as_well() {
    here(async {
        let (cache, world) = (Shown::default(), Arc::new(World::default()));
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
fn what_is_in_conflict_is_not_kept() {
    here(async {
        let cache = Shown::default();
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
