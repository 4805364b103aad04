//! Questions that expire: `within` and `until`.

use superstep::interrupt::Attempted;
use superstep::{Context, ContextWith};
use tests::stores::on_every_store;
use tokio::time::advance;

use super::claim::{Approve, Claim, ClaimUpdate, DAY, Office, SECOND, approval, office, say};
use super::graph_of;

fn told(answer: Option<bool>) -> ClaimUpdate {
    say(format!("{answer:?}"))
}

async fn within(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
    told(cx.interrupt(Approve).within(DAY).await)
}

async fn keyed_within(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
    told(cx.interrupt(Approve).within(DAY).keyed("a").await)
}

async fn until(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
    let time = engine_clock() + DAY;
    told(cx.interrupt(Approve).until(time).await)
}

/// Returns the time as the engine reads it under a paused clock.
fn engine_clock() -> std::time::SystemTime {
    let ahead = tokio::time::Instant::now().into_std().saturating_duration_since(std::time::Instant::now());
    std::time::SystemTime::now() + ahead
}

#[tokio::test(start_paused = true)]
async fn question_expires_or_is_answered() {
    let graphs = [graph_of!(within), graph_of!(keyed_within), graph_of!(until)];
    on_every_store(async |store| {
        for (which, graph) in graphs.iter().enumerate() {
            for (answered, passed) in [(true, false), (true, true), (false, true)] {
                let persistent = graph.with_checkpointer(store.open());
                let thread = persistent.thread(format!("{which} {answered} {passed}"));
                let outcome = thread.run(Claim::input()).context(office()).await.unwrap();
                let wakes_at = outcome.pause().unwrap().wakes_at().unwrap();
                let answer = approval(&thread).await;
                if passed {
                    advance(DAY + SECOND).await;
                    assert_eq!(persistent.due(wakes_at).await.unwrap().len(), 1);
                }
                let outcome = match answered {
                    true => thread.resume(answer).context(office()).await,
                    false => thread.resume(()).context(office()).await,
                };
                let expected = if answered { "Some(true)" } else { "None" };
                assert_eq!(outcome.unwrap().state().log, [expected], "{which}");
            }
        }
    })
    .await;
}

/// A question with a key is asked again after it has expired: it keeps its id, and gets a new deadline.
#[tokio::test(start_paused = true)]
async fn expired_question_is_asked_again() {
    async fn patient(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
        for day in 1..=3 {
            if let Some(yes) = cx.interrupt(Approve).keyed("claim").within(DAY).await {
                return say(format!("{yes} on day {day}"));
            }
        }
        say("escalated")
    }
    let graph = graph_of!(patient);
    on_every_store(async |store| {
        for days in 0..=3 {
            let persistent = graph.with_checkpointer(store.open());
            let thread = persistent.thread(format!("{days}"));
            let mut outcome = thread.run(Claim::input()).context(office()).await.unwrap();
            let first = approval(&thread).await;
            for _ in 0..days {
                assert_eq!(outcome.pause().unwrap().interrupts().len(), 1);
                advance(DAY + SECOND).await;
                outcome = thread.resume(()).context(office()).await.unwrap();
            }
            if days == 3 {
                assert_eq!(outcome.state().log, ["escalated"]);
                continue;
            }
            // The answer to the question as it was first asked; the deadline passes while it is on its way.
            advance(2 * DAY).await;
            let outcome = thread.resume(first).context(office()).await.unwrap();
            assert_eq!(outcome.state().log, [format!("true on day {}", days + 1)]);
        }
    })
    .await;
}

/// A node can be tested without a graph.
#[tokio::test(start_paused = true)]
async fn detached_context_answers_or_lets_expire() {
    async fn review(_: &Claim, cx: &Context) -> ClaimUpdate {
        told(cx.interrupt(Approve).within(DAY).await)
    }
    let claim = Claim::started(Claim::input()).unwrap();
    let log = |update| claim.clone().updated(update).unwrap().log;
    use superstep::GraphState as _;
    let answered = Context::detached("review").answering::<Approve>(true);
    assert_eq!(log(review(&claim, &answered).await), ["Some(true)"]);
    assert_eq!(log(review(&claim, &Context::detached("review")).await), ["None"]);
    let cx = Context::detached("review");
    let attempted = cx.until_interrupt(review(&claim, &cx)).await;
    assert!(matches!(attempted, Attempted::Interrupted(open) if open.len() == 1));
}
