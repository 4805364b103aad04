//! Questions that expire: `within` and `until`.

use superstep::interrupt::{Attempted, OpenInterrupt};
use superstep::{Context, ContextWith, EventKind};
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

#[tokio::test(start_paused = true)]
async fn open_interrupt_has_its_deadline() {
    async fn twice(_: &Claim, cx: &ContextWith<Office>) -> ClaimUpdate {
        cx.interrupt(Approve).keyed("claim").within(DAY).await;
        told(cx.interrupt(Approve).keyed("claim").within(2 * DAY).await)
    }
    let graph = graph_of!(twice);
    on_every_store(async |store| {
        let persistent = graph.with_checkpointer(store.open());
        let thread = persistent.thread("t");
        let mut shown = Vec::new();
        for round in [1_u32, 2] {
            let mut events = match round {
                1 => thread.run(Claim::input()).context(office()).stream(),
                _ => thread.resume(()).context(office()).stream(),
            };
            let mut asked = Vec::new();
            while let Some(event) = events.next().await {
                if let EventKind::Interrupt { question, .. } = &event.unwrap().kind {
                    asked.push(question.clone());
                }
            }
            let pause = thread.interrupts().await.unwrap();
            let open = pause.interrupts();
            assert_eq!((open, open[0].expires_at), (&asked[..], pause.wakes_at()));
            let json = serde_json::to_value(&open[0]).unwrap();
            let since = open[0].expires_at.unwrap().duration_since(std::time::UNIX_EPOCH).unwrap();
            assert_eq!(json["expires_at_ms"], u64::try_from(since.as_millis()).unwrap());
            let returned: OpenInterrupt = serde_json::from_value(json).unwrap();
            assert_eq!(returned, open[0]);
            shown.push(returned);
            advance(round * DAY + SECOND).await;
        }
        assert_eq!(shown[0].id, shown[1].id);
        assert!(shown[0].expires_at < shown[1].expires_at);
        // The page of the first round still answers the question.
        let outcome = thread.resume(shown[0].answer_json(true.into())).context(office()).await.unwrap();
        assert_eq!(outcome.state().log, ["Some(true)"]);
    })
    .await;
    // Without a checkpointer as well.
    let mut run = graph.run(Claim::input()).context(office()).start().unwrap();
    assert!(!run.step().await.unwrap());
    let pause = run.pause().unwrap();
    assert!(pause.wakes_at().is_none() || pause.wakes_at() == pause.interrupts()[0].expires_at);
    assert!(pause.interrupts()[0].expires_at.is_some());
}
