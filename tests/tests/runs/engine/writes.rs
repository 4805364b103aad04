//! Writes: folded in application order, and applied for the whole superstep or not at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use superstep::reducers::{ReduceError, Reducer, Stamp};
use superstep::{ContextWith, END, Error, ErrorKind, Graph, GraphState, Overwrite, START, StateGraph};

use crate::engine::trace::{block_on, workers};

/// Stores strings in capitals with their step and node. Refuses and panics on request.
enum Loud {}

impl Reducer<Vec<String>> for Loud {
    type Update = String;
    type Delta = String;

    fn prepare(update: String, stamp: &Stamp<'_>) -> Result<String, ReduceError> {
        match update.as_str() {
            "unprepared" => Err(ReduceError::new("not prepared")),
            "panic at once" => panic!("panicked at once"),
            _ => Ok(format!("{}@{}.{}:{}", update.to_uppercase(), stamp.step, stamp.index, stamp.node)),
        }
    }

    fn fold(value: &mut Vec<String>, delta: String) -> Result<(), ReduceError> {
        value.push(delta);
        match value.last().map(String::as_str) {
            Some(text) if text.starts_with("PANIC") => panic!("panicked while folding"),
            Some(text) if text.starts_with("REFUSED") => Err(ReduceError::new("refused")),
            _ => Ok(()),
        }
    }
}

fn small(share: &f64) -> Result<(), String> {
    if *share == 13.0 {
        panic!("unlucky")
    }
    if *share < 100.0 { Ok(()) } else { Err("too much".to_owned()) }
}

fn sane(state: &Data) -> Result<(), String> {
    if state.number == 666 && state.list.is_empty() { Err("insane".to_owned()) } else { Ok(()) }
}

#[derive(GraphState, Clone, Debug, PartialEq)]
#[state(invariant = sane)]
struct Data {
    number: u32,
    maybe: Option<u32>,
    #[state(reducer = append)]
    list: Vec<u32>,
    #[state(reducer = Loud)]
    loud: Vec<String>,
    #[state(validate(range(min = 0.0, max = 50.0), custom(small)))]
    share: f64,
}

/// The updates that the two nodes return in each attempt, and the number of their executions.
#[derive(Default)]
struct Script {
    left: Vec<DataUpdate>,
    right: Vec<DataUpdate>,
    runs: [AtomicUsize; 2],
}

async fn left(_: &Data, cx: &ContextWith<Script>) -> DataUpdate {
    cx.context().left[cx.context().runs[0].fetch_add(1, Ordering::SeqCst)].clone()
}

async fn right(_: &Data, cx: &ContextWith<Script>) -> DataUpdate {
    tokio::task::yield_now().await;
    cx.context().right[cx.context().runs[1].fetch_add(1, Ordering::SeqCst)].clone()
}

fn both() -> Graph<Data, Script> {
    StateGraph::<Data>::with_context::<Script>()
        .edge(START, (left, right))
        .edge(left, END)
        .edge(right, END)
        .compile()
        .unwrap()
}

fn alone() -> Graph<Data, Script> {
    StateGraph::<Data>::with_context::<Script>().edge(START, left).edge(left, END).compile().unwrap()
}

/// The results of the first and second step, and the executions of both nodes after each.
struct Steps {
    first: Result<Data, Error>,
    second: Option<Result<Data, Error>>,
    runs: [[usize; 2]; 2],
}

impl Steps {
    fn of(
        graph: &Graph<Data, Script>,
        left: Vec<DataUpdate>,
        right: Vec<DataUpdate>,
        input: DataInput,
    ) -> Self {
        let script = Arc::new(Script { left, right, runs: Default::default() });
        let runs = || [0, 1].map(|node: usize| script.runs[node].load(Ordering::SeqCst));
        let before = input_state(graph, &script, input.clone());
        let mut run = graph.run(input).context(Arc::clone(&script)).start().unwrap();
        let mut step = || {
            let result = block_on(run.step());
            match result {
                Ok(_) => Ok(run.state().clone()),
                Err(error) => {
                    assert_eq!(run.state(), &before, "no write of the superstep is applied: {error}");
                    assert_eq!(error.state::<Data>(), Some(&before));
                    assert_eq!(run.superstep(), 0);
                    Err(error)
                }
            }
        };
        let first = step();
        let after_first = runs();
        let second = first.is_err().then(&mut step);
        Self { first, second, runs: [after_first, runs()] }
    }

    fn error(&self) -> &Error {
        self.first.as_ref().unwrap_err()
    }

    fn second(self) -> Data {
        self.second.unwrap().unwrap()
    }
}

fn input_state(graph: &Graph<Data, Script>, script: &Arc<Script>, input: DataInput) -> Data {
    graph.run(input).context(Arc::clone(script)).start().unwrap().state().clone()
}

fn update() -> DataUpdate {
    Data::update()
}

fn both_write(left: DataUpdate, right: DataUpdate) -> Steps {
    let input = Data::input().list([1]);
    Steps::of(&both(), vec![left.clone(), left], vec![right.clone(), right], input)
}

#[test]
fn two_writers_without_a_reducer_conflict() {
    let steps = both_write(update().list([2]).number(1), update().number(2).list([3]));
    let ErrorKind::WriteConflict { field: "number", nodes, step: 1, overwrite: false, .. } =
        steps.error().kind()
    else {
        panic!("{}", steps.error())
    };
    assert_eq!(nodes, &["left", "right"]);
    assert_eq!(
        steps.error().to_string(),
        "graph `Data`: field `number` was written more than once in superstep 1, by `left` and `right`: give it a reducer, or let only one task of a superstep write it"
    );
    assert_eq!(steps.runs, [[1, 1], [1, 1]], "both results are kept and applied again");
    assert!(matches!(steps.second.unwrap().unwrap_err().kind(), ErrorKind::WriteConflict { .. }));
}

#[test]
fn last_write_of_one_task_counts() {
    let steps = both_write(update().number(1).number(2), update().list([4]).list([5]));
    let state = steps.first.unwrap();
    assert_eq!((state.number, state.list), (2, vec![1, 4, 5]));
}

#[test]
fn overwrite_discards_other_writes_of_the_superstep() {
    let over = || update().list([7]).list(Overwrite(vec![8])).list([9]);
    for steps in [both_write(over(), update().list([2])), both_write(update().list([2]), over())] {
        assert_eq!(steps.first.unwrap().list, [8]);
    }
    let state = both_write(update().number(Overwrite(3)), update().number(4)).first.unwrap();
    assert_eq!(state.number, 3, "this also applies to a field without a reducer");
    let state = both_write(update().loud(Overwrite(vec!["as it is".to_owned()])), update()).first.unwrap();
    assert_eq!(state.loud, ["as it is"], "an overwrite bypasses the reducer");
}

#[test]
fn two_overwrites_of_a_field_conflict() {
    let steps = both_write(update().list(Overwrite(vec![])), update().list(Overwrite(vec![])));
    let ErrorKind::WriteConflict { field: "list", nodes, overwrite: true, .. } = steps.error().kind() else {
        panic!("{}", steps.error())
    };
    assert_eq!(nodes, &["left", "right"]);
    assert!(
        steps.error().to_string().contains("was overwritten more than once in superstep"),
        "{}",
        steps.error()
    );
    assert_eq!(steps.runs, [[1, 1], [1, 1]]);
    let one = update().list(Overwrite(vec![3])).list(Overwrite(vec![4]));
    let state = both_write(one, update()).first.unwrap();
    assert_eq!(state.list, [4], "one task can overwrite a field twice");
}

#[test]
fn list_can_be_appended_replaced_and_cleared() {
    let run = |update: DataUpdate| {
        Steps::of(&alone(), vec![update], Vec::new(), Data::input().list([1])).first.unwrap().list
    };
    assert_eq!(run(update().list([2, 3])), [1, 2, 3]);
    assert_eq!(run(update().list(Overwrite(vec![4]))), [4]);
    assert_eq!(run(update().list(Overwrite(Vec::new()))), [0_u32; 0]);
    assert_eq!(run(update()), [1]);
}

#[test]
fn option_can_be_set_kept_and_reset() {
    let run = |update: DataUpdate| {
        Steps::of(&alone(), vec![update], Vec::new(), Data::input().maybe(5)).first.unwrap().maybe
    };
    assert_eq!(run(update().maybe(6)), Some(6));
    assert_eq!(run(update()), Some(5));
    assert_eq!(run(update().maybe(None)), None);
}

#[test]
fn input_and_updates_go_through_the_reducer() {
    let steps = Steps::of(
        &both(),
        vec![update().loud("a".to_owned()).loud("b".to_owned())],
        vec![update().loud("c".to_owned())],
        Data::input().loud("given".to_owned()),
    );
    assert_eq!(
        steps.first.unwrap().loud,
        ["GIVEN@0.0:START", "A@1.0:left", "B@1.0:left", "C@1.1:right"],
        "the writes of each task are prepared once with its own stamp"
    );
}

#[test]
fn broken_rule_revokes_only_its_writers() {
    let steps = Steps::of(
        &both(),
        vec![update().share(200.0), update().share(2.0)],
        vec![update().list([2])],
        Data::input(),
    );
    let ErrorKind::Validation { nodes, step: 1, violations, .. } = steps.error().kind() else {
        panic!("{}", steps.error())
    };
    assert_eq!(nodes, &["left"]);
    assert_eq!(violations.len(), 2, "every broken rule is reported");
    assert_eq!(
        steps.error().to_string(),
        "graph `Data`: the writes of `left` in superstep 1 break the rules of the state\n  \
         field `share` breaks `range(min = 0.0, max = 50.0)` with 200.0: greater than 50\n  \
         field `share` breaks `custom(small)` with 200.0: too much"
    );
    assert_eq!(steps.runs, [[1, 1], [2, 1]], "only the writer runs again");
    let state = steps.second();
    assert_eq!((state.share, state.list), (2.0, vec![2]));
}

#[test]
fn rules_are_checked_after_a_single_last_node() {
    let steps = Steps::of(
        &alone(),
        vec![update().share(f64::NAN).list([3]), update().share(1.0).list([4])],
        Vec::new(),
        Data::input(),
    );
    let ErrorKind::Validation { nodes, violations, .. } = steps.error().kind() else {
        panic!("{}", steps.error())
    };
    assert_eq!(nodes, &["left"]);
    assert_eq!(violations[0].message, "not a number", "NaN is in no range");
    assert_eq!(steps.runs, [[1, 0], [2, 0]]);
    let state = steps.second();
    assert_eq!((state.share, state.list), (1.0, vec![4]));
}

#[test]
fn panicking_rule_counts_as_broken() {
    let steps =
        Steps::of(&both(), vec![update().share(13.0), update()], vec![update().list([2])], Data::input());
    let ErrorKind::Validation { nodes, violations, .. } = steps.error().kind() else {
        panic!("{}", steps.error())
    };
    assert_eq!((nodes.as_slice(), violations.len()), (&["left".to_owned()][..], 1));
    assert!(violations[0].message.contains("unlucky"), "{}", violations[0]);
    assert_eq!(steps.runs, [[1, 1], [2, 1]]);
}

#[test]
fn broken_invariant_revokes_all_writers() {
    let steps = Steps::of(
        &both(),
        vec![update().number(666), update().number(667)],
        vec![update().maybe(2), update()],
        Data::input(),
    );
    let ErrorKind::Validation { nodes, violations, .. } = steps.error().kind() else {
        panic!("{}", steps.error())
    };
    assert_eq!(nodes, &["left", "right"]);
    assert_eq!(violations[0].to_string(), "the state breaks its invariant `sane`: insane");
    assert_eq!(steps.runs, [[1, 1], [2, 2]]);
    assert_eq!(steps.second().number, 667);
}

#[test]
fn rules_check_the_merged_state() {
    let steps = both_write(update().number(666).list(Overwrite(vec![])), update().maybe(1));
    assert!(matches!(steps.error().kind(), ErrorKind::Validation { .. }));
    let script = vec![update().number(666)];
    let steps = Steps::of(&both(), script, vec![update().list([9])], Data::input());
    assert_eq!(steps.first.unwrap().number, 666, "the sibling's write makes it sane");
}

#[test]
fn refusing_reducer_revokes_the_writers_of_its_field() {
    for (write, says) in [("refused", "refused"), ("panic", "the reducer panicked: panicked while folding")] {
        let steps = Steps::of(
            &both(),
            vec![update().list([2]).loud("fine".to_owned()), update().list([3]).loud("fine".to_owned())],
            vec![update().loud(write.to_owned()), update().loud("well".to_owned())],
            Data::input().loud("given".to_owned()),
        );
        let ErrorKind::Reducer { field: "loud", node, step: 1, source, .. } = steps.error().kind() else {
            panic!("{}", steps.error())
        };
        assert_eq!((node.as_str(), source.to_string().as_str()), ("right", says));
        assert_eq!(
            format!("{:?}", steps.error()),
            format!(
                "graph `Data`: the reducer of field `loud` refused the write of node `right` in superstep 1\n  \
                 caused by: {says}"
            )
        );
        assert_eq!(steps.runs, [[1, 1], [2, 2]], "both wrote the field");
        let state = steps.second();
        assert_eq!(state.loud, ["GIVEN@0.0:START", "FINE@1.0:left", "WELL@1.1:right"]);
        assert_eq!(state.list, [3]);
    }
}

#[test]
fn refusing_reducer_keeps_writers_of_other_fields() {
    let steps = Steps::of(
        &both(),
        vec![update().list([2])],
        vec![update().loud("refused".to_owned()), update()],
        Data::input(),
    );
    assert!(matches!(steps.error().kind(), ErrorKind::Reducer { .. }));
    assert_eq!(steps.runs, [[1, 1], [1, 2]]);
    assert_eq!(steps.second().list, [2]);
}

#[test]
fn unpreparable_update_fails_its_node() {
    for (write, text) in [
        (
            "unprepared",
            "node `left` failed in superstep 1, attempt 1\n  \
             caused by: the reducer of field `loud` refused the update\n  caused by: not prepared",
        ),
        (
            "panic at once",
            "node `left` failed in superstep 1, attempt 1\n  caused by: the reducer of field `loud` refused the update\n  \
             caused by: the reducer panicked: panicked at once",
        ),
    ] {
        let steps = Steps::of(
            &both(),
            vec![update().loud(write.to_owned()), update()],
            vec![update().list([2]), update().list([2])],
            Data::input(),
        );
        assert_eq!(format!("{:?}", steps.error()), format!("graph `Data`: {text}"));
    }
}

#[test]
fn invalid_input_starts_no_run() {
    let start = |input: DataInput| {
        let error = alone().run(input).context(Script::default()).start().unwrap_err();
        assert!(error.state::<Data>().is_none());
        format!("{error:?}")
    };
    assert_eq!(
        start(Data::input().share(70.0)),
        "graph `Data`: the writes of `START` in superstep 0 break the rules of the state\n  \
         field `share` breaks `range(min = 0.0, max = 50.0)` with 70.0: greater than 50"
    );
    assert_eq!(
        start(Data::input().loud("refused".to_owned())),
        "graph `Data`: the reducer of field `loud` refused the write of node `START` in superstep 0\n  \
         caused by: refused"
    );
    assert_eq!(
        start(Data::input().loud("unprepared".to_owned())),
        "graph `Data`: node `START` failed in superstep 0, attempt 1\n  \
         caused by: the reducer of field `loud` refused the update\n  caused by: not prepared"
    );
    assert_eq!(
        start(Data::input().loud("panic".to_owned())),
        "graph `Data`: the reducer of field `loud` refused the write of node `START` in superstep 0\n  \
         caused by: the reducer panicked: panicked while folding"
    );
    assert_eq!(
        start(Data::input().loud("panic at once".to_owned())),
        "graph `Data`: node `START` failed in superstep 0, attempt 1\n  \
         caused by: the reducer of field `loud` refused the update\n  \
         caused by: the reducer panicked: panicked at once"
    );
}

#[test]
fn input_can_break_the_invariant() {
    let input = Data::input().number(666);
    let steps = Steps::of(&alone(), vec![update().list([1])], Vec::new(), input);
    assert_eq!(steps.first.unwrap().list, [1]);
}

#[test]
fn multi_threaded_conflict_applies_nothing() {
    let script =
        Script { left: vec![update().number(1)], right: vec![update().number(2)], ..Script::default() };
    let error = workers(2).block_on(both().run(Data::input()).context(script)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::WriteConflict { field: "number", .. }));
    assert_eq!(error.state::<Data>().unwrap().number, 0);
}
