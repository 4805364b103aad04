//! What a run leaves for the next one on its thread.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::as_node;
use superstep::workflow::{Final, Workflow};
use superstep::{Context, END, ErrorKind, NodeError, Result};

use super::stores::on_every_store;

async fn sum(number: &i32, previous: Option<&i32>) -> Result<i32> {
    if *number < 0 {
        return Err(NodeError::msg("below zero"));
    }
    Ok(number + previous.copied().unwrap_or_default())
}

#[tokio::test]
async fn is_what_the_last_complete_run_has_returned() {
    on_every_store(async |place| {
        let graph = Workflow::new(sum).compile().unwrap();
        let run = async |number: i32| place.thread(&graph).run(number).abandon_pending().await?.value();
        assert_eq!(run(1).await.unwrap(), 1);
        assert_eq!(run(2).await.unwrap(), 3);
        run(-1).await.unwrap_err();
        assert_eq!(run(3).await.unwrap(), 6);

        // As it was there, on a branch; and as it is seen from outside.
        let history = place.thread(&graph).history().await.unwrap();
        let ended = history.iter().filter(|snapshot| snapshot.is_finished());
        let values: Vec<_> = ended.filter_map(|snapshot| snapshot.state.as_ref()?.value()).collect();
        assert_eq!(values, [&6, &3, &1]);
        let first = history.iter().rev().find(|snapshot| snapshot.is_finished()).unwrap();
        assert_eq!(place.thread(&graph).at(first.id).run(10).await.unwrap().value().unwrap(), 11);
        assert_eq!(run(1).await.unwrap(), 12);
        let state = place.thread(&graph).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!((state.value(), state.previous()), (Some(&12), Some(&12)));
    })
    .await;
}

async fn mean(number: &f64, previous: Option<&(u32, f64)>) -> Result<Final<f64, (u32, f64)>> {
    let (count, sum) = previous.copied().unwrap_or_default();
    let (count, sum) = (count + 1, sum + number);
    Ok(Final { value: sum / f64::from(count), save: (count, sum) })
}

#[tokio::test]
async fn is_what_was_saved_where_that_is_something_else() {
    on_every_store(async |place| {
        let graph = Workflow::new(mean).compile().unwrap();
        let run = async |number: f64| place.thread(&graph).run(number).await.unwrap().value().unwrap();
        assert_eq!([run(4.0).await, run(8.0).await, run(0.0).await], [4.0, 6.0, 4.0]);
        let state = place.thread(&graph).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!((state.value(), state.previous()), (Some(&4.0), Some(&(3, 12.0))));
    })
    .await;
}

// What is null in JSON is a result as well.
async fn nothing(_: &bool, previous: Option<&()>) -> Result<()> {
    if previous.is_some() { Err(NodeError::msg("again")) } else { Ok(()) }
}

async fn perhaps(number: &Option<u32>, previous: Option<&Option<u32>>) -> Result<Option<u32>> {
    match previous {
        None => Ok(*number),
        Some(None) => Ok(Some(100)),
        Some(Some(previous)) => Ok(Some(previous + number.unwrap_or_default())),
    }
}

#[tokio::test]
async fn is_there_also_where_it_is_null() {
    on_every_store(async |place| {
        let graph = Workflow::new(nothing).compile().unwrap();
        place.thread(&graph).run(true).await.unwrap().value().unwrap();
        place.thread(&graph).run(true).await.unwrap_err();
    })
    .await;
    on_every_store(async |place| {
        let graph = Workflow::new(perhaps).compile().unwrap();
        let run = async |number| place.thread(&graph).run(number).await.unwrap().value().unwrap();
        assert_eq!([run(None).await, run(None).await, run(Some(5)).await], [None, Some(100), Some(105)]);
    })
    .await;
}

#[derive(Serialize, Deserialize)]
struct Sure;

impl Question for Sure {
    type Answer = bool;
}

async fn asked(number: &u32, previous: Option<&u32>, cx: &Context) -> Result<u32> {
    let yes = cx.interrupt(Sure).await;
    Ok(if yes { number + previous.copied().unwrap_or_default() } else { 0 })
}

#[tokio::test]
async fn a_run_that_waits_has_no_result_and_keeps_the_previous_one() {
    on_every_store(async |place| {
        let graph = Workflow::new(asked).compile().unwrap();
        let answer = async || {
            let thread = place.thread(&graph);
            let sure = thread.interrupts().await.unwrap().only::<Sure>().unwrap();
            thread.resume(sure.answer(true)).await.unwrap().value().unwrap()
        };
        place.thread(&graph).run(1).await.unwrap();
        assert_eq!(answer().await, 1);

        let waits = place.thread(&graph).run(2).await.unwrap();
        let state = waits.state();
        assert_eq!((state.value(), state.previous()), (None, Some(&1)));
        let error = waits.value().unwrap_err();
        assert!(
            error.to_string().starts_with("graph `asked`: there is no output yet: the run waits for"),
            "{error}"
        );
        let ErrorKind::NoOutput { waits, .. } = error.kind() else { panic!("{error}") };
        assert!(waits[0].contains("Sure"), "{waits:?}");
        assert_eq!(answer().await, 3);

        // Ended from outside: nothing was returned, and the last result is still that.
        place.thread(&graph).run(4).await.unwrap();
        let thread = place.thread(&graph);
        thread.update(superstep::workflow::Flow::update(), as_node(END)).await.unwrap();
        let state = thread.state().await.unwrap().unwrap().state.unwrap();
        assert_eq!((state.value(), state.previous()), (None, Some(&3)));
        assert!(matches!(
            thread.resume(()).await.unwrap().value().unwrap_err().kind(),
            ErrorKind::NoOutput { .. }
        ));
        place.thread(&graph).run(5).await.unwrap();
        assert_eq!(answer().await, 8);
    })
    .await;
}
