//! Streamed replies: server-sent events that arrive in any parts.

use superstep::messages::MessageChunk;

use super::exchange::{Answer, Limits, Streamed, stream};
use super::invariants::{assembled, sent, shown, stored};
use crate::fuzz::Random;

/// The first byte chooses the content type and the limits, the second the parts. The other bytes are the body.
pub(in crate::fuzz) fn run(bytes: &[u8]) {
    let [flags, cuts, body @ ..] = bytes else { return };
    let kind = match flags % 4 {
        2 => None,
        3 => Some("application/json"),
        _ => Some("text/event-stream; charset=utf-8"),
    };
    let is_broken = flags & 8 != 0;
    let parts: Vec<&[u8]> = Random::new(*cuts).parts(body).collect();
    let end = |answer: Answer| if is_broken { answer.broken() } else { answer };
    let ask = |limits| {
        let in_parts = stream(limits, end(Answer::chunked(200, kind, parts.iter().copied())));
        let at_once = stream(limits, end(Answer::chunked(200, kind, [body])));
        let [in_parts, at_once] = [in_parts, at_once].map(read);
        assert_eq!(in_parts, at_once, "the parts change the reply");
        at_once
    };
    let reply = ask(Limits::NONE);
    if flags & 16 == 0 {
        return;
    }
    let limits = Limits::small(flags >> 5);
    let (chunks, end) = ask(limits);
    if end.as_ref().is_err_and(|error| error.starts_with("reply_too_large")) {
        assert!(body.len() > limits.reply.min(limits.event), "{end:?}");
        assert!(reply.0.starts_with(&chunks), "a limit changes the chunks");
    } else {
        assert_eq!((&chunks, &end), (&reply.0, &reply.1), "a limit changes the reply");
    }
    let sizes = chunks.iter().map(|chunk| chunk.text.len() + chunk.reasoning.len());
    assert!(sizes.clone().all(|size| size <= limits.event), "a large event is read");
    assert!(sizes.sum::<usize>() <= limits.reply, "a large reply is read");
}

fn read(streamed: Streamed) -> (Vec<MessageChunk>, Result<(), String>) {
    let chunks = streamed.0.clone();
    sent(&chunks);
    (chunks, assembled(streamed).map(|reply| drop(stored(reply))).map_err(|error| shown(&error)))
}

pub(in crate::fuzz) fn seeds() -> Vec<Vec<u8>> {
    let streams = [
        // OpenAI
        concat!(
            "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null},\"logprobs\":null,\"finish_reason\":null}],\"obfuscation\":\"abc\"}\n\n",
            "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Sch\u{f6}ne \u{1f980}\"},\"finish_reason\":null}]}\n\n",
            "data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
            "data: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\"total_tokens\":11}}\n\n",
            "data: [DONE]\n\n",
        ),
        concat!(
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"{\"}},{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\"\\\"x\\\":1}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n",
            "data: [DONE]\n\n",
        ),
        // OpenRouter
        concat!(
            ": OPENROUTER PROCESSING\n\n",
            "data: {\"choices\":[{\"delta\":{\"content\":\"\",\"reasoning\":\"Hm\",\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"Hm\",\"index\":0}]}}]}\n\n",
            "data: {\"choices\":[{\"delta\":{\"content\":\"Yes\"},\"finish_reason\":\"stop\",\"native_finish_reason\":\"STOP\"}]}\n\n",
            "data: {\"error\":{\"message\":\"no room for s3cret-k3y\",\"code\":502}}\n\n",
        ),
        // vLLM, with a proxy that sends its own events
        concat!(
            "\u{feff}event: keepalive\ndata: \n\nid: 1\nretry: 5\r\n",
            "data:{\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"Hm\"},\r\n",
            "data:\"finish_reason\":null}]}\r\n\r\n",
            "data:{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes\"},\"finish_reason\":\"length\"}]}\r\r",
            "event: message\rdata:[DONE]\r\n\r\n",
        ),
        // Mistral
        concat!(
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"Hm\"}]}]}}]}\n\n",
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"Yes\"}]},\"finish_reason\":\"stop\"}]}\n\n",
        ),
        // Ollama and Gemini: no numbers, arguments as an object
        concat!(
            "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":{\"x\":1}}},{\"id\":\"b\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"},\"extra_content\":{\"google\":{\"thought_signature\":\"c2ln\"}}}]},\"finish_reason\":\"stop\"}]}\n\n",
            "data: [DONE]\n\n",
        ),
        "event: keepalive\n\n: ping\n\ndata: {\"choices",
        "event: error\ndata: {\"error\":{\"message\":\"dXNlcjpwYXNz\"}}\n\n",
    ];
    // An event that is too large and not UTF-8.
    let unreadable = [&[16, 3], b"data: ".as_slice(), &[0xcf; 250], b"\n\n"].concat();
    let seeds = streams
        .iter()
        .zip(0_u8..)
        .flat_map(|(body, number)| [0, 16, 48].map(|flags| [&[flags, number], body.as_bytes()].concat()));
    seeds.chain([unreadable]).collect()
}
