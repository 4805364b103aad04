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
async fn what_is_streamed_in_pieces_is_what_is_given_whole() {
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
    for reply in &mut replies {
        let (count, mut whole) = streamed(&model, &request()).await.unwrap();
        assert!(count > reply.content.text().chars().count() / 5, "{count} pieces of {reply:?}");
        // What is wrong with arguments is said by whoever tries to read them.
        whole.invalid_tool_calls.iter_mut().for_each(|call| call.error = None);
        assert_eq!(whole, *reply);
    }
}

#[tokio::test]
async fn replies_closures_and_errors_come_in_the_order_of_the_script() {
    let error = ModelError::Refused { model: "m".to_owned(), status: 429, message: "slower".to_owned() };
    let model = ScriptedModel::new([AiMessage::new("one")])
        .fail(error)
        .reply_with(|request| AiMessage::new(request.messages[0].text().to_uppercase()))
        .named("m");
    assert_eq!(model.name(), "m");
    assert_eq!(model.complete(&request()).await.unwrap().content, "one");
    assert!(model.complete(&request()).await.unwrap_err().is_transient());
    assert_eq!(model.complete(&request()).await.unwrap().content, "WELL?");
    let end = model.complete(&request()).await.unwrap_err();
    assert_eq!(end.to_string(), "model `m` cannot be asked this: its script of 3 replies has ended");
    assert!(!end.is_transient());
    assert_eq!(streamed(&model, &request()).await.unwrap_err().to_string(), end.to_string());
}

#[tokio::test]
async fn a_request_is_remembered_once_it_is_made() {
    let model = ScriptedModel::new([AiMessage::new("one")]);
    let request = request().temperature(0.5);
    drop(model.complete(&request));
    drop(model.stream(&request));
    assert_eq!((model.requests().len(), model.remaining()), (0, 1), "nothing was waited for");
    model.complete(&request).await.unwrap();
    assert_eq!((model.requests(), model.remaining()), (vec![request], 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_handle_on_every_thread_takes_from_one_script() {
    let model = ScriptedModel::new((0..50).map(|number| AiMessage::new(number.to_string())));
    let shared: Arc<dyn ChatModel> = Arc::new(model.clone());
    let asked: Vec<_> = (0..50)
        .map(|_| {
            let shared = Arc::clone(&shared);
            tokio::spawn(
                async move { shared.complete(&request()).await.unwrap().content.text().into_owned() },
            )
        })
        .collect();
    let mut said = Vec::new();
    for reply in asked {
        said.push(reply.await.unwrap().parse::<u32>().unwrap());
    }
    said.sort_unstable();
    assert_eq!(said, (0..50).collect::<Vec<_>>());
    assert_eq!((model.requests().len(), model.remaining()), (50, 0));
}

#[tokio::test]
async fn behind_its_script_it_may_say_what_it_makes_of_a_request() {
    let model = ScriptedModel::new([AiMessage::new("first")])
        .otherwise(|request| AiMessage::new(request.messages.len().to_string()));
    let request = ChatRequest::new(["a", "b"]);
    let mut said = Vec::new();
    for _ in 0..3 {
        said.push(model.complete(&request).await.unwrap().content.text().into_owned());
    }
    assert_eq!(said, ["first", "2", "2"]);
}
