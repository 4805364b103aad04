//! Retries of nodes that call a model.

use std::sync::Arc;
use std::time::Duration;

use superstep::messages::{AiMessage, MessagesState};
use superstep::policy::Retry;
use superstep::{END, START, StateGraph, named};
use superstep_agent::agent::{MODEL, ModelNode};
use superstep_agent::{ModelError, ScriptedModel};
use tokio::time::Instant;

fn busy(retry_after: u64) -> ModelError {
    let retry_after = Some(Duration::from_secs(retry_after));
    ModelError::Refused { model: "m".to_owned(), status: 429, message: "slower".to_owned(), retry_after }
}

#[tokio::test(start_paused = true)]
async fn model_is_asked_again_after_the_wait_that_it_requests() {
    let retry = Retry::attempts(9)
        .backoff(Duration::from_secs(1))
        .max_backoff(Duration::from_secs(600))
        .when(ModelError::is_transient)
        .wait_from(ModelError::retry_after);
    let graph = |model: &ScriptedModel| {
        let model = named(MODEL, ModelNode::<MessagesState>::new(Arc::new(model.clone())));
        let graph = StateGraph::<MessagesState>::new().edge(START, &model).edge(&model, END);
        graph.policy(&model, retry.clone()).compile().unwrap()
    };
    let start = Instant::now();
    let model = ScriptedModel::new([]).fail(busy(300)).fail(busy(0)).reply(AiMessage::new("Yes."));
    let chat = graph(&model).run(MessagesState::input().messages("well?")).await.unwrap().into_state();
    assert_eq!(chat.messages[1].text(), "Yes.");
    assert_eq!(start.elapsed().as_secs(), 302);

    let model = ScriptedModel::new([]).fail(busy(3600)).reply(AiMessage::new("Yes."));
    graph(&model).run(MessagesState::input().messages("well?")).await.unwrap_err();
    assert_eq!((start.elapsed().as_secs(), model.remaining()), (302, 1));
}
