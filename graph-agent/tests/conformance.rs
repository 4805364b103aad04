//! The conformance suite for models: the scripted model passes it, and models with a fault fail the case for their fault.

#![expect(
    clippy::unwrap_used,
    reason = "the functions that tests share fail a test as the tests themselves do"
)]

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use superstep::messages::MessageChunk;
use superstep_agent::conformance::{Answer, Broken, Delivery, TestModel, TestProvider, cases, run};
use superstep_agent::{ChatModel, ChatRequest, ModelError, ModelFuture, ModelStream, ScriptedModel};

/// The number of requests of a case that a refusing script has to answer.
const REQUESTS: usize = 8;

fn refusal(answer: &Answer) -> ModelError {
    let retry_after = match answer.delivery {
        Delivery::Refusal { retry_after } => Some(retry_after),
        _ => None,
    };
    ModelError::Refused { model: "m".to_owned(), status: 429, message: "slower".to_owned(), retry_after }
}

fn scripted(answer: Answer) -> ScriptedModel {
    match answer.delivery {
        Delivery::Refusal { .. } => {
            (0..REQUESTS).fold(ScriptedModel::new([]), |model, _| model.fail(refusal(&answer)))
        }
        _ => ScriptedModel::new([]).fallback(move |_| answer.reply.clone()),
    }
}

struct Scripted;

impl TestProvider for Scripted {
    async fn start(&self, answer: Answer) -> Option<TestModel> {
        match answer.delivery {
            Delivery::Whole | Delivery::Refusal { .. } => Some(TestModel::new(Arc::new(scripted(answer)))),
            // It has no connection.
            _ => None,
        }
    }
}

fn block_on<T>(case: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(case)
}

superstep_agent::model_conformance_tests!(Scripted, run = block_on);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    MergesBlocks,
    LosesSignatures,
    LosesRedactedThinking,
    LosesOtherFieldsOfCalls,
    MixesCalls,
    LosesUsage,
    LosesUsageDetails,
    RepeatsPieces,
    EndsEarly,
    ReportsNoCutOff,
    ForgetsTheWait,
    StartsAgainAfterTheEnd,
    HidesTextInBlocks,
    DropsUnreadableArguments,
}

/// A scripted model with a fault in its streams.
struct Faulty {
    fault: Fault,
    answer: Answer,
}

impl Faulty {
    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn cut_off() -> ModelError {
        ModelError::Unreachable { model: "m".to_owned(), source: "cut off".into() }
    }

    fn changed(&self, mut chunk: MessageChunk) -> MessageChunk {
        use superstep::messages::Block;
        match self.fault {
            Fault::MergesBlocks => chunk.blocks.clear(),
            Fault::HidesTextInBlocks if !chunk.blocks.is_empty() => chunk.text.clear(),
            Fault::LosesRedactedThinking => {
                chunk.blocks.retain(|piece| !matches!(piece.block, Block::Other(_)))
            }
            Fault::LosesSignatures => {
                for piece in &mut chunk.blocks {
                    if let Block::Reasoning(block) = &mut piece.block {
                        block.signature = None;
                    }
                }
            }
            Fault::LosesOtherFieldsOfCalls => chunk.calls.iter_mut().for_each(|call| call.extra.clear()),
            Fault::MixesCalls => chunk.calls.iter_mut().for_each(|call| call.index = 0),
            Fault::DropsUnreadableArguments => {
                chunk.calls.retain(|call| call.extra.get("type").is_none());
            }
            Fault::LosesUsage => chunk.usage = None,
            Fault::LosesUsageDetails => {
                if let Some(usage) = &mut chunk.usage {
                    usage.extra.clear();
                }
            }
            _ => {}
        }
        chunk
    }
}

impl ChatModel for Faulty {
    fn name(&self) -> &str {
        "faulty"
    }

    fn complete<'a>(&'a self, _: &'a ChatRequest) -> ModelFuture<'a> {
        Box::pin(async {
            match self.answer.delivery {
                Delivery::CutOff => Err(Self::cut_off()),
                Delivery::Refusal { .. } => Err(refusal(&self.answer)),
                _ => Ok(self.answer.reply.clone()),
            }
        })
    }

    fn stream<'a>(&'a self, request: &'a ChatRequest) -> ModelStream<'a> {
        Box::pin(FaultyStream { model: self, request, items: None, ended: false })
    }
}

struct FaultyStream<'a> {
    model: &'a Faulty,
    request: &'a ChatRequest,
    items: Option<VecDeque<Result<MessageChunk, ModelError>>>,
    ended: bool,
}

impl FaultyStream<'_> {
    /// Returns the items of the stream.
    fn items(&self) -> VecDeque<Result<MessageChunk, ModelError>> {
        let (model, answer) = (self.model, &self.model.answer);
        let mut items = VecDeque::new();
        if let Delivery::Refusal { .. } = answer.delivery {
            let mut answer = answer.clone();
            if model.is(Fault::ForgetsTheWait) {
                answer.delivery = Delivery::Whole;
            }
            items.push_back(Err(refusal(&answer)));
            return items;
        }
        let scripted = scripted(Answer::clone(answer));
        let mut stream = scripted.stream(self.request);
        while let Some(chunk) = block_on_ready(&mut stream) {
            items.push_back(chunk.map(|chunk| model.changed(chunk)));
        }
        if answer.delivery == Delivery::CutOff {
            items.truncate(items.len() / 2);
            if !model.is(Fault::ReportsNoCutOff) {
                items.push_back(Err(Faulty::cut_off()));
            }
        }
        if model.is(Fault::EndsEarly) {
            items.pop_back();
        }
        if let (true, Some(Ok(first))) = (model.is(Fault::RepeatsPieces), items.front()) {
            let first = first.clone();
            items.push_front(Ok(first));
        }
        items
    }
}

/// Polls the stream of a scripted model, which is always ready.
fn block_on_ready(stream: &mut ModelStream<'_>) -> Option<Result<MessageChunk, ModelError>> {
    block_on(poll_fn(|cx| stream.as_mut().poll_next(cx)))
}

impl Stream for FaultyStream<'_> {
    type Item = Result<MessageChunk, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let items = match self.items.take() {
            Some(items) => items,
            None => std::thread::scope(|scope| scope.spawn(|| self.items()).join().unwrap()),
        };
        let items = self.items.insert(items);
        let item = items.pop_front();
        if item.is_none()
            && self.model.is(Fault::StartsAgainAfterTheEnd)
            && !std::mem::replace(&mut self.ended, true)
        {
            self.items = None;
        }
        Poll::Ready(item)
    }
}

struct WithFault(Fault);

impl TestProvider for WithFault {
    async fn start(&self, answer: Answer) -> Option<TestModel> {
        match answer.delivery {
            Delivery::Whole | Delivery::Refusal { .. } | Delivery::CutOff => {
                Some(TestModel::new(Arc::new(Faulty { fault: self.0, answer })))
            }
            _ => None,
        }
    }
}

fn check(fault: Fault, area: &str, case: &str, promise: &str) {
    let broken: Broken = block_on(run(area, case, &WithFault(fault))).unwrap_err();
    assert_eq!((broken.case(), broken.promise()), (format!("{area}::{case}").as_str(), promise), "{broken}");
}

#[test]
fn suite_detects_faults() {
    for case in cases() {
        block_on(case.run(&WithFault(Fault::None))).unwrap();
    }
    let equal = "a streamed reply equals the complete one";
    for (fault, area, case, promise) in [
        (Fault::MergesBlocks, "replies", "thinking_between_texts_keeps_its_place", equal),
        (Fault::LosesSignatures, "replies", "signed_thinking_can_be_sent_back", equal),
        (Fault::LosesRedactedThinking, "replies", "redacted_thinking_can_be_sent_back", equal),
        (Fault::LosesOtherFieldsOfCalls, "replies", "calls_keep_their_other_fields", equal),
        (Fault::DropsUnreadableArguments, "replies", "unreadable_arguments_make_an_invalid_call", equal),
        (Fault::LosesUsage, "replies", "usage_is_reported", equal),
        (Fault::LosesUsageDetails, "replies", "usage_has_its_details", equal),
        (Fault::RepeatsPieces, "replies", "text_is_unchanged", equal),
        (Fault::EndsEarly, "replies", "usage_is_reported", equal),
        (Fault::MixesCalls, "streams", "interleaved_pieces_reach_their_calls", equal),
        (
            Fault::HidesTextInBlocks,
            "streams",
            "every_piece_of_text_can_be_shown",
            "the `text` of all chunks is the text of the reply",
        ),
        (
            Fault::StartsAgainAfterTheEnd,
            "replies",
            "text_is_unchanged",
            "nothing follows the end of a stream, or its error",
        ),
        (
            Fault::ReportsNoCutOff,
            "failures",
            "reply_that_is_cut_off_is_an_error",
            "a reply that is cut off is an error",
        ),
        (
            Fault::ForgetsTheWait,
            "failures",
            "refusal_has_its_status_and_wait",
            "a refusal keeps the requested wait",
        ),
    ] {
        check(fault, area, case, promise);
    }
    let broken = block_on(run("replies", "no_such_case", &Scripted)).unwrap_err();
    assert_eq!(broken.promise(), "the case exists");
}
