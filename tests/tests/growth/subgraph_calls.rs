//! Subgraph calls: many in one superstep, and many one after the other.

use serde_json::json;
use superstep::interrupt::Answer;
use superstep::subgraph::{Subgraph, WiredTo};
use superstep::thread::{PersistentGraph, as_node};
use superstep::{Context, END, Graph, GraphState, Route, START, StateGraph, StreamMode};

use super::fan_out::{Approve, Fan, FanUpdate, asking as fan_out};
use super::growth;
use super::measure::Sample;

#[derive(GraphState, Clone, Debug)]
struct Inner {
    #[state(input)]
    item: usize,
    #[state(reducer = append)]
    seen: Vec<usize>,
}

async fn look(inner: &Inner) -> InnerUpdate {
    Inner::update().seen([inner.item])
}

async fn ask(inner: &Inner, cx: &Context) -> InnerUpdate {
    let _: bool = cx.interrupt(Approve).await;
    Inner::update().seen([inner.item])
}

fn looking() -> Graph<Inner> {
    StateGraph::<Inner>::new().edge(START, look).edge(look, END).compile().unwrap()
}

fn asking() -> Graph<Inner> {
    StateGraph::<Inner>::new().edge(START, ask).edge(ask, END).compile().unwrap()
}

#[derive(GraphState, Clone, Debug)]
struct Outer {
    #[state(input)]
    calls: usize,
    #[state(reducer = add)]
    done: usize,
}

/// A graph that makes all calls in one superstep.
fn wide(inner: &Graph<Inner>) -> (Graph<Outer>, Subgraph<Inner, (), impl WiredTo<Inner, Outer>>) {
    #[derive(Route)]
    enum Each {
        #[to("call")]
        Call(usize),
    }
    async fn split(outer: &Outer) -> Vec<Each> {
        (0..outer.calls).map(Each::Call).collect()
    }
    let call = inner.as_node("call").mapped_packet(
        |_: &Outer, item: &usize| Inner::input(*item),
        |done| Outer::update().done(done.state.seen.len()),
    );
    (StateGraph::<Outer>::new().edge(START, split).edge(&call, END).compile().unwrap(), call)
}

/// A graph that makes one call after the other.
fn long(keeps: bool) -> (Graph<Outer>, Subgraph<Inner, (), impl WiredTo<Inner, Outer>>) {
    #[derive(Route)]
    enum Next {
        #[to("call")]
        Call,
        #[to(END)]
        Out,
    }
    async fn next(outer: &Outer) -> Next {
        if outer.done < outer.calls { Next::Call } else { Next::Out }
    }
    let call = looking()
        .as_node("call")
        .mapped(|outer: &Outer| Inner::input(outer.done), |_| Outer::update().done(1_usize));
    let call = if keeps { call.per_thread() } else { call };
    (StateGraph::<Outer>::new().edge(START, next).edge(&call, next).compile().unwrap(), call)
}

/// A graph that makes one call, whose tasks all ask.
fn asking_fan_out() -> (Graph<Outer>, Subgraph<Fan, (), impl WiredTo<Fan, Outer>>) {
    let call = fan_out::graph()
        .as_node("call")
        .mapped(|outer: &Outer| Fan::input(outer.calls), |done| Outer::update().done(done.state.done.len()));
    (StateGraph::<Outer>::new().edge(START, &call).edge(&call, END).compile().unwrap(), call)
}

fn stored(at: &Sample, graph: &Graph<Outer>) -> PersistentGraph<Outer> {
    graph.with_checkpointer(at.store())
}

growth! {
    calls_of_one_superstep: Runtimes, 500 => async |at| {
        let graph = wide(&looking()).0;
        at.cost(async { graph.run(Outer::input(at.n)).await.unwrap() }).await;
    };
    stored_calls_of_one_superstep: Both, 100 => async |at| {
        let thread = stored(at, &wide(&looking()).0).thread("t");
        at.cost(async { thread.run(Outer::input(at.n)).await.unwrap() }).await;
    };
    events_of_calls_of_one_superstep: Runtimes, 500 => async |at| {
        let modes = [StreamMode::Tasks, StreamMode::Values, StreamMode::Updates];
        let stream = wide(&looking()).0.run(Outer::input(at.n)).events(modes).stream();
        at.cost(async { stream.for_each(|_| ()).await.unwrap() }).await;
    };
    interrupted_calls: Both, 100 => async |at| {
        let graph = wide(&asking()).0;
        let thread = stored(at, &graph).thread("t");
        at.cost(async { thread.run(Outer::input(at.n)).await.unwrap() }).await;
    };
    interrupts_of_calls: Stores, 200 => async |at| {
        let thread = stored(at, &wide(&asking()).0).thread("t");
        thread.run(Outer::input(at.n)).await.unwrap();
        let open = at.cost(async { thread.interrupts().await.unwrap() }).await;
        assert_eq!(open.interrupts().len(), at.n);
    };
    picture_of_interrupted_calls: Stores, 200 => async |at| {
        let thread = stored(at, &wide(&asking()).0).thread("t");
        thread.run(Outer::input(at.n)).await.unwrap();
        let _ = at.cost(async { thread.picture().await.unwrap() }).await;
    };
    answers_of_calls: Both, 100 => async |at| {
        let thread = stored(at, &wide(&asking()).0).thread("t");
        let outcome = thread.run(Outer::input(at.n)).await.unwrap();
        let open = outcome.pause().unwrap().interrupts();
        let answers: Vec<Answer> = open.iter().map(|open| open.answer_json(json!(true))).collect();
        let outcome = at.cost(async { thread.resume(answers).await.unwrap() }).await;
        assert_eq!(outcome.state().done, at.n);
    };
    answers_of_calls_in_a_stepped_run: Runtimes, 200 => async |at| {
        let mut run = wide(&asking()).0.run(Outer::input(at.n)).start().unwrap();
        while run.step().await.unwrap() {}
        let open = run.pause().unwrap();
        let answers: Vec<Answer> = open.interrupts().iter().map(|open| open.answer_json(json!(true))).collect();
        at.cost(async { run.answer(answers).unwrap() }).await;
        assert_eq!(at.cost(run.finish()).await.unwrap().state().done, at.n);
    };
    answer_of_one_call: Both, 100 => async |at| {
        let thread = stored(at, &wide(&asking()).0).thread("t");
        let outcome = thread.run(Outer::input(at.n)).await.unwrap();
        let answer = outcome.pause().unwrap().interrupts().last().unwrap().answer_json(json!(true));
        at.cost(async { thread.resume(answer).await.unwrap() }).await;
    };
    update_of_one_call: Stores, 200 => async |at| {
        let (graph, call) = wide(&asking());
        let thread = stored(at, &graph).thread("t");
        thread.run(Outer::input(at.n)).await.unwrap();
        let calls = thread.within(&call).task(0);
        at.cost(async { calls.update(Inner::update().seen([1]), as_node(ask)).await.unwrap() }).await;
    };
    update_of_one_call_with_many_questions: Stores, 8_000 => async |at| {
        let (graph, call) = asking_fan_out();
        let thread = stored(at, &graph).thread("t");
        thread.run(Outer::input(at.n)).await.unwrap();
        let (calls, place) = (thread.within(&call), as_node(fan_out::work));
        at.cost(async { calls.update(FanUpdate::default(), place).await.unwrap() }).await;
    };
    answers_of_one_call_with_many_questions: Stores, 1_000 => async |at| {
        let thread = stored(at, &asking_fan_out().0).thread("t");
        let outcome = thread.run(Outer::input(at.n)).await.unwrap();
        let open = outcome.pause().unwrap().interrupts();
        let answers: Vec<Answer> = open.iter().map(|open| open.answer_json(json!(true))).collect();
        let outcome = at.cost(async { thread.resume(answers).await.unwrap() }).await;
        assert_eq!(outcome.state().done, at.n);
    };
    replay_of_one_call: Stores, 200 => async |at| {
        let (graph, call) = wide(&asking());
        let thread = stored(at, &graph).thread("t");
        thread.run(Outer::input(at.n)).await.unwrap();
        let calls = thread.within(&call).task(0);
        let head = calls.state().await.unwrap().unwrap().id;
        at.cost(async { calls.at(head).run_again().await.unwrap() }).await;
    };
    calls_one_after_the_other: Runtimes, 500 => async |at| {
        let run = long(false).0.run(Outer::input(at.n)).recursion_limit(u64::MAX);
        at.cost(async { run.await.unwrap() }).await;
    };
    stored_calls_one_after_the_other: Both, 60 => async |at| {
        let run = stored(at, &long(false).0).thread("t").run(Outer::input(at.n)).recursion_limit(u64::MAX);
        at.cost(async { run.await.unwrap() }).await;
    };
    calls_that_keep_their_state: Both, 60 => async |at| {
        let run = stored(at, &long(true).0).thread("t").run(Outer::input(at.n)).recursion_limit(u64::MAX);
        at.cost(async { run.await.unwrap() }).await;
    };
    history_of_calls: Stores, 100 => async |at| {
        let (graph, call) = long(false);
        let thread = stored(at, &graph).thread("t");
        thread.run(Outer::input(at.n)).recursion_limit(u64::MAX).await.unwrap();
        at.cost(async { thread.within(&call).history().await.unwrap() }).await;
    };
    state_of_each_call: Stores, 200 => async |at| {
        let (graph, call) = wide(&looking());
        let thread = stored(at, &graph).thread("t");
        thread.run(Outer::input(at.n)).await.unwrap();
        at.cost(async {
            for task in 0..at.n {
                thread.within(&call).task(task).state().await.unwrap().unwrap();
            }
        })
        .await;
    };
    copy_and_deletion_of_calls: Stores, 200 => async |at| {
        let thread = stored(at, &wide(&looking()).0).thread("t");
        thread.run(Outer::input(at.n)).await.unwrap();
        at.cost(async { thread.copy("copy").await.unwrap() }).await;
        at.cost(async { thread.delete().await.unwrap() }).await;
    };
    prune_of_calls: Stores, 200 => async |at| {
        let graph = stored(at, &wide(&looking()).0);
        graph.thread("t").run(Outer::input(at.n)).await.unwrap();
        let prune = superstep::checkpoint::Prune::new().keep_last(1);
        at.cost(async { graph.prune(prune).await.unwrap() }).await;
    };
}
