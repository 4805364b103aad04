use std::future::poll_fn;
use std::sync::Arc;

use superstep::messages::{InvalidToolCall, MessageAssembler, ToolCall, Usage};

use super::*;

async fn streamed(model: &dyn ChatModel, request: &ChatRequest) -> Result<(usize, AiMessage), ModelError> {
    let mut stream = model.stream(request);
    let (mut whole, mut count) = (MessageAssembler::default(), 0);
    while let Some(chunk) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
        whole.push(&chunk?);
        count += 1;
    }
    assert!(poll_fn(|cx| stream.as_mut().poll_next(cx)).await.is_none(), "nothing comes after the end");
    Ok((count, whole.finish()))
}

fn request() -> ChatRequest {
    ChatRequest::new(["well?"])
}

#[tokio::test]
async fn streamed_reply_equals_the_complete_reply() {
    let mut replies = [
        AiMessage::new("Good morning, schöne Welt 🦀."),
        AiMessage::new("two at once")
            .call(ToolCall::new("call_1", "add").arg("a", 2).arg("b", "drei"))
            .call(ToolCall::new("call_2", "clock")),
        AiMessage::new("")
            .invalid_call(InvalidToolCall::new("call_1", "add", "{\"a\": "))
            .usage(Usage::new(3, 4)),
        AiMessage::new(""),
    ];
    replies[0].id = Some("reply_1".to_owned());
    replies[1].response_metadata.insert("finish_reason".to_owned(), "tool_calls".into());
    replies[2].additional_kwargs.insert("refusal".to_owned(), "no".into());
    let model = ScriptedModel::new(replies.clone());
    for reply in &replies {
        let (count, whole) = streamed(&model, &request()).await.unwrap();
        assert!(count > reply.content.text().chars().count() / 5, "{count} chunks of {reply:?}");
        assert_eq!(whole, *reply);
    }
}

#[tokio::test]
async fn replies_and_errors_come_in_script_order() {
    let error = ModelError::Refused {
        model: "m".to_owned(),
        status: 429,
        message: "slower".to_owned(),
        retry_after: None,
    };
    let model = ScriptedModel::new([AiMessage::new("one")])
        .fail(error)
        .reply_with(|request| AiMessage::new(request.messages[0].text().to_uppercase()))
        .named("m");
    assert_eq!(model.name(), "m");
    assert_eq!(model.complete(&request()).await.unwrap().content, "one");
    assert!(model.complete(&request()).await.unwrap_err().is_transient());
    assert_eq!(model.complete(&request()).await.unwrap().content, "WELL?");
    let end = model.complete(&request()).await.unwrap_err();
    assert_eq!(end.to_string(), "invalid request for model `m`: the script has only 3 replies");
    assert!(!end.is_transient());
    assert_eq!(streamed(&model, &request()).await.unwrap_err().to_string(), end.to_string());
}

#[tokio::test]
async fn requests_are_recorded_when_polled() {
    let model = ScriptedModel::new([AiMessage::new("one")]);
    let request = request().temperature(0.5);
    drop(model.complete(&request));
    drop(model.stream(&request));
    assert_eq!((model.requests().len(), model.remaining()), (0, 1), "nothing was polled");
    model.complete(&request).await.unwrap();
    assert_eq!((model.requests(), model.remaining()), (vec![request], 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clones_on_several_threads_share_one_script() {
    let model = ScriptedModel::new((0..50).map(|number| AiMessage::new(number.to_string())));
    let shared: Arc<dyn ChatModel> = Arc::new(model.clone());
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let shared = Arc::clone(&shared);
            tokio::spawn(
                async move { shared.complete(&request()).await.unwrap().content.text().into_owned() },
            )
        })
        .collect();
    let mut replies = Vec::new();
    for task in tasks {
        replies.push(task.await.unwrap().parse::<u32>().unwrap());
    }
    replies.sort_unstable();
    assert_eq!(replies, (0..50).collect::<Vec<_>>());
    assert_eq!((model.requests().len(), model.remaining()), (50, 0));
}

#[tokio::test]
async fn fallback_replies_after_the_end_of_the_script() {
    let model = ScriptedModel::new([AiMessage::new("first")])
        .fallback(|request| AiMessage::new(request.messages.len().to_string()));
    let request = ChatRequest::new(["a", "b"]);
    let mut replies = Vec::new();
    for _ in 0..3 {
        replies.push(model.complete(&request).await.unwrap().content.text().into_owned());
    }
    assert_eq!(replies, ["first", "2", "2"]);
}
