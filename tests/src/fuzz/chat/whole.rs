//! Complete replies, and refusals.

use superstep::messages::AiMessage;
use superstep_agent::ModelError;

use super::exchange::{Answer, Limits, complete};
use super::invariants::{shown, stored};
use crate::fuzz::Random;

/// The size from which the body of a refusal is not read further.
const MAX_REFUSAL: usize = 64 * 1024;

/// The first byte chooses the status, the second the parts in which the body arrives. The other bytes are the body.
pub(in crate::fuzz) fn run(bytes: &[u8]) {
    let [flags, cuts, body @ ..] = bytes else { return };
    let status = match flags % 8 {
        4 => 401,
        5 => 429,
        6 => 500,
        7 => 307,
        _ => 200,
    };
    let is_broken = flags & 8 != 0;
    // A refusal of a proxy may be large. The part that is not read begins anywhere in the body.
    let padding = if flags & 16 != 0 && status != 200 { MAX_REFUSAL - usize::from(*cuts) } else { 0 };
    let padding = " ".repeat(padding).into_bytes();
    // Not cut: thousands of parts would take seconds.
    let parts: Vec<&[u8]> = [&padding[..]].into_iter().chain(Random::new(*cuts).parts(body)).collect();
    let body = [&padding, body].concat();
    let kind = Some("application/json");

    let end = |answer: Answer| if is_broken { answer.broken() } else { answer };
    let ask = |limits| {
        let in_parts = read(complete(limits, end(Answer::chunked(status, kind, parts.iter().copied()))));
        let at_once = read(complete(limits, end(Answer::chunked(status, kind, [&body[..]]))));
        assert_eq!(in_parts, at_once, "the parts change the reply");
        at_once
    };
    let reply = ask(Limits::NONE);
    if !is_broken {
        let announced = read(complete(Limits::NONE, Answer::with_length(status, kind, &body)));
        assert_eq!(announced, reply, "the announced length changes the reply");
    }
    assert!(reply.is_err() || status == 200 && !is_broken);
    if status == 200 && !is_broken {
        let limits = Limits::small(flags >> 5);
        let limited = ask(limits);
        let is_refused = limited.as_ref().is_err_and(|error| error.starts_with("reply_too_large"));
        assert_eq!(is_refused, body.len() > limits.reply, "{limited:?}");
        assert!(is_refused || limited == reply);
    }
}

fn read(reply: Result<AiMessage, ModelError>) -> Result<AiMessage, String> {
    reply.map(stored).map_err(|error| shown(&error))
}

pub(in crate::fuzz) fn seeds() -> Vec<Vec<u8>> {
    let replies = [
        // OpenAI
        r#"{"id":"chatcmpl-1","object":"chat.completion","created":7,"model":"m-2","choices":[{"index":0,"message":{"role":"assistant","content":"Because.","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21,"prompt_tokens_details":{"cached_tokens":1,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":2}},"service_tier":"default","system_fingerprint":"fp"}"#,
        r#"{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"add","arguments":"{\"a\":1,\"b\":[2.5,null]}"}},{"id":"call_2","type":"custom","custom":{"name":"sql","input":"select 1"}}]},"finish_reason":"tool_calls"}]}"#,
        // vLLM and SGLang
        r#"{"id":"x","object":"chat.completion","model":"qwen3","choices":[{"index":0,"message":{"role":"assistant","reasoning_content":"Hm.","content":"Yes.","tool_calls":[]},"finish_reason":"stop","stop_reason":null,"matched_stop":1}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_tokens_details":null},"prompt_logprobs":null}"#,
        // Ollama and llama.cpp
        r#"{"choices":[{"finish_reason":"tool_calls","index":0,"message":{"role":"assistant","content":"","tool_calls":[{"index":0,"id":"","type":"function","function":{"name":"add","arguments":{"a":1}}}]}}],"timings":{"predicted_ms":1.5}}"#,
        // Mistral
        r#"{"choices":[{"index":0,"message":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"Yes."},{"type":"image_url","image_url":{"url":"u"}}]},"finish_reason":"stop"}]}"#,
        // OpenRouter and Gemini
        r#"{"provider":"p","choices":[{"message":{"role":"assistant","content":"Yes.","reasoning":"Hm.","reasoning_details":[{"type":"reasoning.text","text":"Hm.","signature":"c2ln","index":0}],"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":""},"extra_content":{"google":{"thought_signature":"c2ln"}}}]},"native_finish_reason":"STOP","finish_reason":"stop"}],"usage":{"cost":0.5}}"#,
        r#"{"error":{"message":"bad key s3cret-k3y","type":"invalid_request_error","code":"invalid_api_key"}}"#,
        r#"{"error":{"message":"no room","code":502,"metadata":{"raw":"Basic dXNlcjpwYXNz"}}}"#,
    ];
    let refusals = [
        r#"{"error":{"message":"slower, dXNlcjpwYXNz","type":"requests","code":"insufficient_quota"}}"#,
        r#"{"detail":[{"loc":["body"],"msg":"n must be 1"}]}"#,
        r#"{"object":"error","message":"too long","code":40303}"#,
        "<html><h1>502 Bad Gateway</h1>s3cret-k3y</html>",
        r#""Basic dXNlcjpwYXNz is not allowed""#,
    ];
    let seed = |flags: u8, cuts: u8, body: &str| [&[flags, cuts], body.as_bytes()].concat();
    let replies = replies.iter().zip(0..).map(|(body, cuts)| seed(cuts % 2 * 32, cuts, body));
    let refusals = refusals.iter().zip(4..).flat_map(|(body, number)| {
        [seed(4 + number % 4, number, body), seed(16 + 4 + number % 3, number * 8, body)]
    });
    replies.chain(refusals).collect()
}
