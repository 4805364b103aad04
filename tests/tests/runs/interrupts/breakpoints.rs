//! Breakpoints before and after nodes.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Pause;
use superstep::run::Stepper;
use superstep::{Context, END, ErrorKind, Graph, Outcome, Route, START, StateGraph};

use super::{Approve, Talk, TalkUpdate, approve, heard, run_test, until_stopped};
use crate::engine::trace::block_on;

async fn a(_: &Talk) -> TalkUpdate {
    heard("a")
}

async fn b(_: &Talk) -> TalkUpdate {
    heard("b")
}

async fn c(_: &Talk) -> TalkUpdate {
    heard("c")
}

fn chain() -> StateGraph<Talk> {
    StateGraph::<Talk>::new().edge(START, a).edge(a, b).edge(b, c).edge(c, END)
}

fn compiled() -> Graph<Talk> {
    chain().compile().unwrap()
}

/// Formats the stops of a run as `state<nodes after which it stopped>nodes before which it stopped`.
fn stops(mut run: Stepper<Talk>) -> String {
    run_test(async {
        let mut stops = Vec::new();
        loop {
            until_stopped(&mut run).await?;
            let Some(pause) = run.pause() else {
                stops.push(run.state().heard.concat());
                return Ok(stops.join(" "));
            };
            stops.push(describe(&pause));
        }
    })
}

fn describe(pause: &Pause<&Talk>) -> String {
    format!("{}<{}>{}", pause.state().heard.concat(), pause.after().join(","), pause.before().join(","))
}

#[test]
fn breakpoints_of_the_graph_stop_the_run() {
    let stops_of =
        |graph: StateGraph<Talk>| stops(graph.compile().unwrap().run(Talk::input()).start().unwrap());
    assert_eq!(stops_of(chain().interrupt_before(a)), "<>a abc");
    assert_eq!(stops_of(chain().interrupt_before(b)), "a<>b abc");
    assert_eq!(stops_of(chain().interrupt_after(b)), "ab<b> abc");
    // Two breakpoints at one boundary are one stop.
    assert_eq!(stops_of(chain().interrupt_after(a).interrupt_before(b)), "a<a>b abc");
    assert_eq!(stops_of(chain().interrupt_before(b).interrupt_before(b)), "a<>b abc");
}

#[test]
fn breakpoints_of_the_run_stop_it() {
    let run = || compiled().run(Talk::input());
    assert_eq!(stops(run().interrupt_before(b).start().unwrap()), "a<>b abc");
    assert_eq!(stops(run().interrupt_after(a).interrupt_before(c).start().unwrap()), "a<a> ab<>c abc");
    assert_eq!(stops(run().interrupt_before_all().start().unwrap()), "<>a a<>b ab<>c abc");
    let graph = chain().interrupt_before(c).compile().unwrap();
    assert_eq!(stops(graph.run(Talk::input()).interrupt_after(a).start().unwrap()), "a<a> ab<>c abc");
}

#[test]
fn breakpoints_are_found_by_name_and_alias() {
    let graph = chain().alias(c, "last").compile().unwrap();
    let run = || graph.run(Talk::input());
    assert_eq!(stops(run().interrupt_before_named(["b"]).start().unwrap()), "a<>b abc");
    assert_eq!(stops(run().interrupt_after_named(["a", "b"]).start().unwrap()), "a<a> ab<b> abc");
    assert_eq!(stops(run().interrupt_before_named(["last".to_owned()]).start().unwrap()), "ab<>c abc");
    assert_eq!(
        stops(run().interrupt_before(b).interrupt_before_named(["b", "c"]).start().unwrap()),
        "a<>b ab<>c abc"
    );
    let error = run().interrupt_after_named(["d"]).start().unwrap_err();
    assert_eq!(error.to_string(), "graph `Talk`: has no node `d` to stop at, but `a`, `b` and `c`");
}

#[test]
fn run_does_not_stop_after_the_last_node() {
    assert_eq!(stops(compiled().run(Talk::input()).interrupt_after_all().start().unwrap()), "a<a> ab<b> abc");
    let outcome = block_on(compiled().run(Talk::input()).interrupt_after(c)).unwrap();
    assert!(matches!(outcome, Outcome::Done(_)));
}

#[test]
fn awaited_run_ends_at_its_breakpoint() {
    let outcome = block_on(compiled().run(Talk::input()).interrupt_after(a)).unwrap();
    let Outcome::Interrupted(pause) = outcome else { panic!("{outcome:?}") };
    assert_eq!(
        (pause.after(), pause.before(), pause.interrupts()),
        (&["a".to_owned()][..], &[][..], &[][..])
    );
    assert_eq!(pause.into_state().heard, ["a"]);
}

#[test]
fn loop_stops_in_each_iteration() {
    #[derive(Route)]
    enum Turn {
        #[to(around)]
        Again,
        #[to(END)]
        Enough,
    }
    async fn around(talk: &Talk) -> (TalkUpdate, Turn) {
        let turn = if talk.heard.len() < 2 { Turn::Again } else { Turn::Enough };
        (heard("x"), turn)
    }
    let graph = StateGraph::<Talk>::new().edge(START, around).interrupt_before(around).compile().unwrap();
    assert_eq!(stops(graph.run(Talk::input()).start().unwrap()), "<>around x<>around xx<>around xxx");
}

#[test]
fn superstep_of_several_tasks_stops_once() {
    #[derive(Serialize, Deserialize)]
    struct Item(u32);
    #[derive(Route)]
    enum Deal {
        #[to(work)]
        Work(Item),
    }
    async fn deal(_: &Talk) -> (TalkUpdate, Vec<Deal>) {
        (heard("d"), (0..3).map(|item| Deal::Work(Item(item))).collect())
    }
    async fn work(item: &Item) -> TalkUpdate {
        heard(item.0.to_string())
    }
    let graph = StateGraph::<Talk>::new()
        .edge(START, deal)
        .edge(work, c)
        .edge(c, END)
        .interrupt_before(work)
        .interrupt_after(work)
        .compile()
        .unwrap();
    assert_eq!(stops(graph.run(Talk::input()).start().unwrap()), "d<>work d012<work> d012c");
}

#[test]
fn breakpoint_and_question_are_two_stops() {
    async fn ask(_: &Talk, cx: &Context) -> TalkUpdate {
        heard(cx.interrupt(approve("it")).await.to_string())
    }
    let graph =
        StateGraph::<Talk>::new().edge(START, ask).edge(ask, END).interrupt_before(ask).compile().unwrap();
    run_test(async {
        let mut run = graph.run(Talk::input()).start()?;
        until_stopped(&mut run).await?;
        assert_eq!(describe(&run.pause().unwrap()), "<>ask");
        until_stopped(&mut run).await?;
        assert_eq!(describe(&run.pause().unwrap()), "<>");
        let asked = run.pause().unwrap().only::<Approve>()?;
        run.answer(asked.answer(true))?;
        // The breakpoint does not stop the same superstep again.
        until_stopped(&mut run).await?;
        assert!(run.pause().is_none());
        assert_eq!(run.state().heard, ["true"]);
        Ok(())
    });
}

#[test]
fn failed_superstep_does_not_repeat_its_breakpoint() {
    async fn fragile(_: &Talk, cx: &Context) -> superstep::Result<TalkUpdate> {
        if cx.attempt() == 1 {
            superstep::bail!("not yet");
        }
        Ok(heard("f"))
    }
    let graph = StateGraph::<Talk>::new()
        .edge(START, fragile)
        .edge(fragile, END)
        .interrupt_before(fragile)
        .compile()
        .unwrap();
    run_test(async {
        let mut run = graph.run(Talk::input()).start()?;
        assert!(!run.step().await?);
        assert!(run.step().await.is_err());
        assert!(run.step().await?);
        assert_eq!(run.state().heard, ["f"]);
        Ok(())
    });
}

#[test]
fn breakpoint_does_not_count_as_superstep() {
    let run = compiled().run(Talk::input()).recursion_limit(3).interrupt_before_all();
    assert_eq!(stops(run.start().unwrap()), "<>a a<>b ab<>c abc");
}

#[test]
fn breakpoint_at_an_unknown_node_is_refused() {
    async fn stranger(_: &Talk) -> TalkUpdate {
        heard("?")
    }
    let error = chain().interrupt_before(stranger).interrupt_after(stranger).compile().unwrap_err();
    assert_eq!(
        error.to_string(),
        "graph `Talk`: cannot be built, it has 1 mistake\n  `stranger` is a breakpoint, but is not in the graph: add it \
         with an edge or `.node(stranger)`"
    );
    let error = compiled().run(Talk::input()).interrupt_before(stranger).start().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::UnknownNode { node, .. } if node == "stranger"));
    assert_eq!(error.to_string(), "graph `Talk`: has no node `stranger` to stop at, but `a`, `b` and `c`");
}
