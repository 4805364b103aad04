//! Replies, complete and streamed.

use serde_json::{Value, json};
use superstep::messages::{AiMessage, Block, Content, InvalidToolCall, ToolCall, Usage};

use crate::conformance::case::Provider;
use crate::conformance::expect::{check, replied, same};
use crate::conformance::{Broken, Delivery};

pub(crate) async fn text_is_unchanged(provider: Provider<'_>) -> Result<(), Broken> {
    let texts = [
        "Good morning.",
        "Schöne Grüße 🦀 漢字",
        " a\n\n\tb\r\n ",
        "data: [DONE]\n\n",
        "\"{\\u0000}\" \u{1F468}\u{200D}\u{1F469}",
    ];
    for text in texts {
        check(provider, &AiMessage::new(text), Delivery::Whole).await?;
    }
    Ok(())
}

pub(crate) async fn empty_reply_is_a_reply(provider: Provider<'_>) -> Result<(), Broken> {
    check(provider, &AiMessage::new(""), Delivery::Whole).await
}

/// Reads a block. The literals of this file are blocks.
fn block(block: Value) -> Block {
    serde_json::from_value(block).unwrap_or_else(|_| Block::from_text(""))
}

fn signed(thinking: &str) -> Block {
    block(json!({"type": "thinking", "thinking": thinking, "signature": "c2lnbmVk+/=="}))
}

fn text(text: &str) -> Block {
    Block::from_text(text)
}

pub(crate) async fn reasoning_is_separate_from_the_text(provider: Provider<'_>) -> Result<(), Broken> {
    let blocks = [Block::reasoning("Is it Größe?"), text("Yes, it is.")];
    check(provider, &AiMessage::new(blocks), Delivery::Whole).await
}

pub(crate) async fn signed_thinking_can_be_sent_back(provider: Provider<'_>) -> Result<(), Broken> {
    let content = Content::from([signed("Is it Größe?"), text("Let me see.")]);
    check(provider, &AiMessage::new(content.clone()), Delivery::Whole).await?;
    let call = ToolCall::new("call_1", "clock").arg("zone", "utc");
    check(provider, &AiMessage::new(content).call(call), Delivery::Whole).await
}

pub(crate) async fn redacted_thinking_can_be_sent_back(provider: Provider<'_>) -> Result<(), Broken> {
    let redacted = |data: &str| block(json!({"type": "redacted_thinking", "data": data}));
    let blocks = [redacted("eHh4"), redacted("eXl5"), text("Let me see.")];
    check(provider, &AiMessage::new(blocks), Delivery::Whole).await
}

pub(crate) async fn thinking_between_texts_keeps_its_place(provider: Provider<'_>) -> Result<(), Broken> {
    let blocks = [signed("Is it?"), text("Let me see."), signed("Or not?"), text("Yes.")];
    check(provider, &AiMessage::new(blocks), Delivery::Whole).await
}

pub(crate) async fn calls_have_their_arguments(provider: Provider<'_>) -> Result<(), Broken> {
    let nested = json!({"zones": ["utc", "Zürich"], "at": {"hour": 12, "exact": 1.5, "none": null}});
    let calls = AiMessage::new("Let me see.")
        .call(ToolCall::new("call_1", "clock").arg("of", nested))
        .call(ToolCall::new("call_2", "random"))
        .call(ToolCall::new("call_3", "clock").arg("of", "{}"));
    check(provider, &calls, Delivery::Whole).await?;
    check(provider, &AiMessage::new("").call(ToolCall::new("call_1", "clock")), Delivery::Whole).await
}

pub(crate) async fn calls_keep_their_other_fields(provider: Provider<'_>) -> Result<(), Broken> {
    let signed = |id: &str| {
        let mut call = ToolCall::new(id, "clock").arg("zone", "utc");
        let extra = json!({"google": {"thought_signature": format!("{id}+/==")}});
        call.extra.insert("extra_content".to_owned(), extra);
        call
    };
    check(provider, &AiMessage::new("").call(signed("call_1")).call(signed("call_2")), Delivery::Whole).await
}

pub(crate) async fn unreadable_arguments_make_an_invalid_call(provider: Provider<'_>) -> Result<(), Broken> {
    let args = ["{\"zone\": \"u", "[1]", "utc"];
    for args in args {
        let reply = AiMessage::new("").invalid_call(InvalidToolCall::new("call_1", "clock", args));
        let Some((found, _)) = replied(provider, &reply, Delivery::Whole).await? else { continue };
        let calls = found.invalid_tool_calls.iter();
        let calls: Vec<_> =
            calls.map(|call| (call.id.as_str(), call.name.as_str(), call.args.as_str())).collect();
        same("a call with unreadable arguments is an invalid call", vec![("call_1", "clock", args)], calls)?;
        same("an invalid call is no call", 0, found.tool_calls.len())?;
    }
    Ok(())
}

fn counts(usage: Option<&Usage>) -> Option<[u64; 3]> {
    usage.map(|usage| [usage.input_tokens, usage.output_tokens, usage.total_tokens])
}

pub(crate) async fn usage_is_reported(provider: Provider<'_>) -> Result<(), Broken> {
    let reply = AiMessage::new("Good morning.").usage(Usage::new(1_200, 34));
    let Some((found, _)) = replied(provider, &reply, Delivery::Whole).await? else { return Ok(()) };
    same(
        "the usage is the one that the provider reports",
        counts(reply.usage.as_ref()),
        counts(found.usage.as_ref()),
    )
}

pub(crate) async fn usage_has_its_details(provider: Provider<'_>) -> Result<(), Broken> {
    let mut usage = Usage::new(1_200, 34);
    usage.extra.insert("input_token_details".to_owned(), json!({"cache_read": 1_000}));
    usage.extra.insert("output_token_details".to_owned(), json!({"reasoning": 30}));
    let reply = AiMessage::new("Good morning.").usage(usage);
    let Some((found, _)) = replied(provider, &reply, Delivery::Whole).await? else { return Ok(()) };
    same("the usage has the details that the provider reports", reply.usage, found.usage)
}
