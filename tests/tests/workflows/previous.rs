//! The previous result: a run's result that the next run on its thread receives.

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
async fn previous_is_the_result_of_the_last_finished_run() {
    on_every_store(async |store| {
        let graph = Workflow::new(sum).compile().unwrap();
        let run = async |number: i32| store.thread(&graph).run(number).abandon_pending().await?.value();
        assert_eq!(run(1).await.unwrap(), 1);
        assert_eq!(run(2).await.unwrap(), 3);
        run(-1).await.unwrap_err();
        assert_eq!(run(3).await.unwrap(), 6);

        // A fork sees the previous result of its branch. A snapshot shows it too.
        let history = store.thread(&graph).history().await.unwrap();
        let ended = history.iter().filter(|snapshot| snapshot.is_finished());
        let values: Vec<_> = ended.filter_map(|snapshot| snapshot.state.as_ref()?.value()).collect();
        assert_eq!(values, [&6, &3, &1]);
        let first = history.iter().rev().find(|snapshot| snapshot.is_finished()).unwrap();
        assert_eq!(store.thread(&graph).at(first.id).run(10).await.unwrap().value().unwrap(), 11);
        assert_eq!(run(1).await.unwrap(), 12);
        let state = store.thread(&graph).state().await.unwrap().unwrap().state.unwrap();
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
async fn previous_is_the_saved_value() {
    on_every_store(async |store| {
        let graph = Workflow::new(mean).compile().unwrap();
        let run = async |number: f64| store.thread(&graph).run(number).await.unwrap().value().unwrap();
        assert_eq!([run(4.0).await, run(8.0).await, run(0.0).await], [4.0, 6.0, 4.0]);
        let state = store.thread(&graph).state().await.unwrap().unwrap().state.unwrap();
        assert_eq!((state.value(), state.previous()), (Some(&4.0), Some(&(3, 12.0))));
    })
    .await;
}

// A value that is null in JSON is a result as well.
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
async fn previous_can_be_null() {
    on_every_store(async |store| {
        let graph = Workflow::new(nothing).compile().unwrap();
        store.thread(&graph).run(true).await.unwrap().value().unwrap();
        store.thread(&graph).run(true).await.unwrap_err();
    })
    .await;
    on_every_store(async |store| {
        let graph = Workflow::new(perhaps).compile().unwrap();
        let run = async |number| store.thread(&graph).run(number).await.unwrap().value().unwrap();
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
async fn waiting_run_keeps_the_previous_result() {
    on_every_store(async |store| {
        let graph = Workflow::new(asked).compile().unwrap();
        let answer = async || {
            let thread = store.thread(&graph);
            let sure = thread.interrupts().await.unwrap().only::<Sure>().unwrap();
            thread.resume(sure.answer(true)).await.unwrap().value().unwrap()
        };
        store.thread(&graph).run(1).await.unwrap();
        assert_eq!(answer().await, 1);

        let waits = store.thread(&graph).run(2).await.unwrap();
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

        // An update as `END` finishes the run without a result. The previous result stays.
        store.thread(&graph).run(4).await.unwrap();
        let thread = store.thread(&graph);
        thread.update(superstep::workflow::Flow::update(), as_node(END)).await.unwrap();
        let state = thread.state().await.unwrap().unwrap().state.unwrap();
        assert_eq!((state.value(), state.previous()), (None, Some(&3)));
        assert!(matches!(
            thread.resume(()).await.unwrap().value().unwrap_err().kind(),
            ErrorKind::NoOutput { .. }
        ));
        store.thread(&graph).run(5).await.unwrap();
        assert_eq!(answer().await, 8);
    })
    .await;
}
