//! Ephemeral fields, which last until a superstep that could read them has run.

use superstep::{Context, END, ErrorKind, GraphState, NodeError, START, StateGraph};

use crate::engine::trace::block_on;

#[derive(GraphState, Clone, Debug)]
struct Note {
    #[state(reducer = append)]
    log: Vec<String>,
    #[state(ephemeral)]
    once: Option<u32>,
    #[state(reducer = append, ephemeral)]
    heap: Vec<u32>,
}

fn sees(note: &Note, cx: &Context) -> NoteUpdate {
    Note::update().log([format!("{}:{} {:?} {:?}", cx.superstep(), cx.node(), note.once, note.heap)])
}

macro_rules! nodes {
    ($($name:ident)*) => {$(
        async fn $name(note: &Note, cx: &Context) -> NoteUpdate {
            sees(note, cx)
        }
    )*};
}

nodes! { a b c d late }

async fn writes(note: &Note, cx: &Context) -> NoteUpdate {
    sees(note, cx).once(1).heap([cx.superstep() as u32])
}

async fn writes_too(note: &Note, cx: &Context) -> NoteUpdate {
    sees(note, cx).heap([cx.superstep() as u32 * 10])
}

fn run(graph: StateGraph<Note>, input: NoteInput) -> Vec<String> {
    let outcome = block_on(graph.compile().unwrap().run(input)).unwrap();
    let state = outcome.into_state();
    let mut log = state.log;
    log.push(format!("{:?} {:?}", state.once, state.heap));
    log
}

fn check(graph: StateGraph<Note>, expected: &[&str]) {
    assert_eq!(run(graph, Note::input()), expected);
}

#[test]
fn ephemeral_value_lasts_one_superstep() {
    let graph = StateGraph::<Note>::new().edge(START, writes).edge(writes, a).edge(a, b).edge(b, END);
    check(graph, &["1:writes None []", "2:a Some(1) [1]", "3:b None []", "None []"]);
}

#[test]
fn ephemeral_input_lasts_for_the_first_superstep() {
    let graph = StateGraph::<Note>::new().edge(START, a).edge(a, b).edge(b, END);
    assert_eq!(run(graph, Note::input().once(7).heap([8])), ["1:a Some(7) [8]", "2:b None []", "None []"]);
}

#[test]
fn outcome_contains_ephemeral_writes_of_the_last_superstep() {
    let graph = StateGraph::<Note>::new().edge(START, a).edge(a, writes).edge(writes, END);
    check(graph, &["1:a None []", "2:writes None []", "Some(1) [2]"]);
}

#[test]
fn every_node_of_the_next_superstep_sees_it() {
    let graph = StateGraph::<Note>::new()
        .edge(START, (writes, writes_too))
        .edge(writes, (a, b))
        .edge(writes_too, b)
        .edge(a, c)
        .edge(b, c)
        .edge(c, END);
    check(
        graph,
        &[
            "1:writes None []",
            "1:writes_too None []",
            "2:a Some(1) [1, 10]",
            "2:b Some(1) [1, 10]",
            "3:c None []",
            "None []",
        ],
    );
}

#[test]
fn reducer_folds_into_a_cleared_ephemeral_field() {
    let graph = StateGraph::<Note>::new()
        .edge(START, writes_too)
        .edge(writes_too, writes)
        .edge(writes, a)
        .edge(a, END);
    check(graph, &["1:writes_too None []", "2:writes None [10]", "3:a Some(1) [2]", "None []"]);
}

#[test]
fn deferred_node_sees_values_from_its_planning() {
    let graph = StateGraph::<Note>::new()
        .edge(START, writes)
        .edge(writes, (a, late))
        .edge(a, b)
        .edge(b, END)
        .edge(late, d)
        .edge(d, END)
        .defer(late);
    check(
        graph,
        &[
            "1:writes None []",
            "2:a Some(1) [1]",
            "3:b Some(1) [1]",
            "4:late Some(1) [1]",
            "5:d None []",
            "None []",
        ],
    );
}

#[test]
fn deferred_node_sees_ephemeral_input() {
    let graph =
        StateGraph::<Note>::new().edge(START, (a, late)).edge(a, b).edge(b, END).edge(late, END).defer(late);
    assert_eq!(
        run(graph, Note::input().once(7)),
        ["1:a Some(7) []", "2:b Some(7) []", "3:late Some(7) []", "None []"]
    );
}

#[test]
fn deferred_node_also_sees_later_ephemeral_writes() {
    let graph = StateGraph::<Note>::new()
        .edge(START, writes)
        .edge(writes, (writes_too, late))
        .edge(writes_too, a)
        .edge(a, b)
        .edge(b, END)
        .edge(late, d)
        .edge(d, END)
        .defer(late);
    check(
        graph,
        &[
            "1:writes None []",
            "2:writes_too Some(1) [1]",
            "3:a Some(1) [1, 20]",
            "4:b Some(1) [1, 20]",
            "5:late Some(1) [1, 20]",
            "6:d None []",
            "None []",
        ],
    );
}

#[test]
fn replanned_deferred_node_sees_newer_ephemeral_values() {
    let graph = StateGraph::<Note>::new()
        .edge(START, a)
        .edge(a, (writes, late))
        .edge(writes, (b, late))
        .edge(b, c)
        .edge(c, END)
        .edge(late, d)
        .edge(d, END)
        .defer(late);
    check(
        graph,
        &[
            "1:a None []",
            "2:writes None []",
            "3:b Some(1) [2]",
            "4:c Some(1) [2]",
            "5:late Some(1) [2]",
            "6:d None []",
            "None []",
        ],
    );
}

#[test]
fn earlier_deferred_node_does_not_extend_ephemeral_values() {
    let graph = StateGraph::<Note>::new()
        .edge(START, (a, late))
        .edge(a, writes)
        .edge(writes, b)
        .edge(b, c)
        .edge(c, END)
        .edge(late, END)
        .defer(late);
    check(
        graph,
        &["1:a None []", "2:writes None []", "3:b Some(1) [2]", "4:c None []", "5:late None []", "None []"],
    );
}

#[test]
fn failed_superstep_clears_no_ephemeral_field() {
    async fn fails(note: &Note, cx: &Context) -> Result<NoteUpdate, NodeError> {
        if cx.attempt() == 1 { Err(NodeError::msg("once")) } else { Ok(sees(note, cx)) }
    }
    let graph = StateGraph::<Note>::new()
        .edge(START, writes)
        .edge(writes, (fails, a))
        .edge(fails, b)
        .edge(a, END)
        .edge(b, END)
        .compile()
        .unwrap();
    let mut run = graph.run(Note::input()).start().unwrap();
    block_on(async {
        assert!(run.step().await.unwrap());
        assert!(matches!(run.step().await.unwrap_err().kind(), ErrorKind::Node { .. }));
        assert_eq!((run.state().once, run.state().heap.as_slice()), (Some(1), &[1][..]));
        while run.step().await.unwrap() {}
    });
    assert_eq!(
        run.state().log,
        ["1:writes None []", "2:fails Some(1) [1]", "2:a Some(1) [1]", "3:b None []"]
    );
}
