//! Reminders and an escalation beside a question, in processes that die.

use std::task::Poll;

use superstep::{ContextWith, Durability, NodeError, Outcome};
use tests::stores::{TestStore, on_every_store};
use tokio::time::{Duration, advance};

use super::claim::{Approve, Claim, ClaimUpdate, DAY, Office, SECOND, approval, office, say};
use super::graph_of;

async fn mail(office: &Office, text: &str) -> Result<(), NodeError> {
    tokio::time::sleep(Duration::from_secs(1)).await;
    office.note(text);
    Ok(())
}

async fn review(_: &Claim, cx: &ContextWith<Office>) -> Result<ClaimUpdate, NodeError> {
    cx.step("mail", mail(cx.context(), "please approve")).await?;
    for day in 1..=3 {
        if let Some(yes) = cx.interrupt(Approve).keyed("claim").within(DAY).await {
            return Ok(say(format!("{yes} after {} days", day - 1)));
        }
        let reminder = format!("reminder {day}");
        cx.step(&reminder, mail(cx.context(), &reminder)).await?;
    }
    cx.step("escalation", mail(cx.context(), "escalated")).await?;
    let yes = cx.interrupt(Approve).keyed("claim").await;
    Ok(say(format!("{yes} after the escalation")))
}

const MAILS: [&str; 5] = ["please approve", "reminder 1", "reminder 2", "reminder 3", "escalated"];

#[tokio::test(start_paused = true)]
async fn first_link_answers_at_any_time() {
    let graph = graph_of!(review);
    on_every_store(async |store| {
        for days in 0..=4 {
            let persistent = graph.with_checkpointer(store.open());
            let (thread, work) = (persistent.thread(format!("{days}")), office());
            thread.run(Claim::input()).context(work.clone()).await.unwrap();
            let link = approval(&thread).await;
            for _ in 0..days {
                advance(DAY + SECOND).await;
                thread.resume(()).context(work.clone()).await.unwrap();
            }
            let mails = match days {
                0..=2 => &MAILS[..=days],
                _ => &MAILS,
            };
            assert_eq!(work.done(), mails, "{days}");
            let outcome = thread.resume(link).context(work.clone()).await.unwrap();
            let expected = match days {
                0..=2 => format!("true after {days} days"),
                _ => "true after the escalation".to_owned(),
            };
            assert_eq!(outcome.state().log, [expected]);
            assert_eq!(work.done(), mails, "{days}");
        }
    })
    .await;
}

/// The runs are dropped after every number of polls. Every mail is sent at most once more than it is recorded, and an
/// answer that was accepted arrives.
#[tokio::test(start_paused = true)]
async fn dropped_runs_lose_no_answer() {
    let graph = graph_of!(review);
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for polls in 1..24 {
            for store in [TestStore::memory(), TestStore::encrypted()] {
                let (work, mut accepted, mut outcome) = (office(), false, None);
                for hour in 0..200_u32 {
                    advance(DAY / 4).await;
                    let thread = store.thread(&graph);
                    let begun = thread.state().await.is_ok_and(|state| state.is_some());
                    let open = if begun {
                        thread.interrupts().await.unwrap()
                    } else {
                        let run = thread.run(Claim::input()).run_id("claim").durability(durability);
                        run_for(polls + hour, run.context(work.clone())).await;
                        continue;
                    };
                    // From the tenth quarter of a day on, a person answers.
                    let answer =
                        open.only::<Approve>().ok().filter(|_| hour > 10).map(|open| open.answer(true));
                    let answers: Vec<_> = answer.into_iter().collect();
                    let gives = !answers.is_empty();
                    accepted |= gives;
                    let run = thread.resume(answers).durability(durability).context(work.clone());
                    match run_for(polls + hour, run).await {
                        Some(Ok(Outcome::Done(claim))) => {
                            outcome = Some(claim);
                            break;
                        }
                        Some(Ok(_)) => assert!(!gives, "{polls} {hour}: an accepted answer was not taken"),
                        Some(Err(error)) => panic!("{polls} {hour}: {error}"),
                        None => {}
                    }
                }
                let log = outcome.expect("the claim is settled").log;
                assert!(accepted && log.len() == 1 && log[0].starts_with("true"), "{log:?}");
                let done = work.done();
                let mut order: Vec<_> = done.clone();
                order.dedup();
                assert!(MAILS.starts_with(&order.iter().map(String::as_str).collect::<Vec<_>>()), "{done:?}");
            }
        }
    }
}

/// Polls a future some times and drops it.
async fn run_for<T>(polls: u32, future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    for _ in 0..polls {
        let once = std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await;
        if let Poll::Ready(output) = once {
            return Some(output);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    None
}
