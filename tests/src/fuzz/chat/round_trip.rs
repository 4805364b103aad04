//! Valid replies, in the forms of several servers, whole and streamed.

use serde_json::{Map, Value, json};

use super::exchange::{Answer, Limits, complete, stream};
use super::invariants::{assembled, sent, stored};
use crate::fuzz::Random;

/// Makes a reply of the bytes. A model reads the same message from the whole reply and from the stream.
pub(in crate::fuzz) fn run(bytes: &[u8]) {
    let mut source = Source { bytes };
    let reply = Reply::of(&mut source);
    let whole = reply.whole().to_string();
    let whole = Answer::with_length(200, Some("application/json"), whole.as_bytes());
    let whole = stored(complete(Limits::NONE, whole).unwrap());

    assert_eq!(whole.content.text(), reply.text);
    let calls: Vec<_> =
        whole.tool_calls.iter().map(|call| (call.id.clone(), call.name.clone(), call.args.clone())).collect();
    assert_eq!(calls, reply.calls);
    assert_eq!(whole.invalid_tool_calls, []);
    let usage = whole.usage.as_ref().map(|usage| [usage.input_tokens, usage.output_tokens]);
    assert_eq!(usage, reply.usage);

    let body = reply.events(&mut source);
    let parts = Random::new(source.next()).parts(&body);
    let streamed = stream(Limits::NONE, Answer::chunked(200, Some("text/event-stream"), parts));
    sent(&streamed.0);
    let streamed = assembled(streamed).unwrap();
    assert_eq!(streamed, whole, "{}", body.escape_ascii());
}

/// The bytes of a case, as decisions. After the last byte, each decision is 0.
struct Source<'b> {
    bytes: &'b [u8],
}

impl Source<'_> {
    fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    fn below(&mut self, end: u8) -> u8 {
        self.next() % end.max(1)
    }

    fn flag(&mut self) -> bool {
        self.next() % 2 == 1
    }

    /// Returns the text of the next bytes.
    fn text(&mut self) -> String {
        let length = usize::from(self.below(40)).min(self.bytes.len());
        let (text, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        String::from_utf8_lossy(text).into_owned()
    }

    fn number(&mut self) -> u64 {
        let bytes: [u8; 8] = std::array::from_fn(|_| self.next());
        u64::from_le_bytes(bytes) >> (self.next() % 64)
    }

    fn value(&mut self, depth: u8) -> Value {
        match self.below(if depth == 0 { 6 } else { 9 }) {
            0 => Value::Null,
            1 => self.flag().into(),
            2 => self.text().into(),
            3 => self.number().into(),
            4 => i64::from_le_bytes(self.number().to_le_bytes()).wrapping_neg().into(),
            5 => f64::from_bits(self.number()).into(),
            6 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            7 => Value::Object(self.object(depth - 1)),
            // Arguments of tools may be deep, such as the syntax tree of a program.
            _ => (0..self.below(90)).fold(Value::Null, |inner, _| json!([inner])),
        }
    }

    fn object(&mut self, depth: u8) -> Map<String, Value> {
        (0..self.below(4)).map(|_| (self.text(), self.value(depth))).collect()
    }

    /// Cuts a text into parts.
    fn cut(&mut self, text: &str) -> Vec<String> {
        let mut parts = vec![String::new()];
        let mut left = 0;
        for char in text.chars() {
            if left == 0 {
                left = 1 + self.below(20);
                parts.push(String::new());
            }
            left -= 1;
            parts.last_mut().unwrap().push(char);
        }
        parts
    }
}

/// The parts of a reply.
struct Reply {
    reasoning: String,
    text: String,
    refusal: String,
    calls: Vec<(String, String, Map<String, Value>)>,
    usage: Option<[u64; 2]>,
    /// The field in which the server sends reasoning.
    reasoning_key: &'static str,
    /// Arguments are sent as an object.
    has_object_args: bool,
}

impl Reply {
    fn of(source: &mut Source<'_>) -> Self {
        let (reasoning, text, refusal) = (source.text(), source.text(), source.text());
        let calls = (0..source.below(4)).map(|number| {
            let name = format!("f{}", source.text());
            (format!("call_{number}"), name, source.object(2))
        });
        Self {
            reasoning,
            text,
            refusal,
            calls: calls.collect(),
            usage: source.flag().then(|| [source.number(), source.number()]),
            reasoning_key: if source.flag() { "reasoning" } else { "reasoning_content" },
            has_object_args: source.flag(),
        }
    }

    fn args(&self, args: &Map<String, Value>) -> Value {
        let args = Value::Object(args.clone());
        if self.has_object_args { args } else { args.to_string().into() }
    }

    fn usage(&self) -> Value {
        self.usage.map_or(Value::Null, |[read, written]| {
            json!({"prompt_tokens": read, "completion_tokens": written, "total_tokens": read.saturating_add(written)})
        })
    }

    /// Returns the complete reply.
    fn whole(&self) -> Value {
        let calls = self.calls.iter().map(|(id, name, args)| {
            json!({"id": id, "type": "function", "function": {"name": name, "arguments": self.args(args)}})
        });
        let calls: Vec<_> = calls.collect();
        let mut message = json!({"role": "assistant", "content": self.text, "tool_calls": calls});
        message[self.reasoning_key] = self.reasoning.as_str().into();
        if !self.refusal.is_empty() {
            message["refusal"] = self.refusal.as_str().into();
        }
        json!({"id": "1", "model": "m", "usage": self.usage(),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    }

    /// Returns the body of the streamed reply.
    fn events(&self, source: &mut Source<'_>) -> Vec<u8> {
        let chunk = |delta: Value| json!({"id": "1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
        let mut events = Vec::new();
        let texts =
            [(self.reasoning_key, &self.reasoning), ("content", &self.text), ("refusal", &self.refusal)];
        for (key, text) in texts {
            events.extend(source.cut(text).into_iter().map(|part| {
                let mut delta = Map::from_iter([(key.to_owned(), part.clone().into())]);
                // An empty refusal is one, as an empty string in a complete reply.
                delta.retain(|key, part| key != "refusal" || part != "");
                chunk(Value::Object(delta))
            }));
        }
        let calls = if self.has_object_args || source.flag() {
            self.calls_at_once(source)
        } else {
            self.interleaved_calls(source)
        };
        events.extend(calls.into_iter().map(|calls| chunk(json!({"tool_calls": calls}))));
        events.push(json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}));
        if self.usage.is_some() {
            events.push(json!({"id": "1", "choices": [], "usage": self.usage()}));
        }
        let mut body = String::new();
        let line = ["\n", "\r\n", "\r"][usize::from(source.below(3))];
        for event in events {
            match source.below(8) {
                0 => body += &format!(": ping{line}{line}"),
                1 => body += &format!("event: message{line}id: 7{line}"),
                2 => body += &format!("event: keepalive{line}data:{line}{line}"),
                _ => {}
            }
            let space = if source.flag() { " " } else { "" };
            body += &format!("data:{space}{event}{line}{line}");
        }
        if source.flag() {
            body += &format!("data: [DONE]{line}{line}");
        }
        body.into_bytes()
    }

    /// Returns the calls, each in one piece. The server may give all the same number, or none.
    fn calls_at_once(&self, source: &mut Source<'_>) -> Vec<Value> {
        let (form, together) = (source.below(3), source.flag());
        let calls = self.calls.iter().zip(0..).map(|((id, name, args), number)| {
            let mut call = json!({"id": id, "type": "function", "function": {"name": name, "arguments": self.args(args)}});
            match form {
                0 => call["index"] = number.into(),
                1 => call["index"] = 0.into(),
                _ => {}
            }
            call
        });
        if together { vec![calls.collect()] } else { calls.map(|call| json!([call])).collect() }
    }

    /// Returns the calls in pieces. A server may repeat the id and the name in each.
    fn interleaved_calls(&self, source: &mut Source<'_>) -> Vec<Value> {
        let (repeats, in_turn) = (source.flag(), source.flag());
        let mut calls: Vec<Vec<Value>> = Vec::new();
        for ((id, name, args), number) in self.calls.iter().zip(0..) {
            let args = self.args(args);
            let parts = source.cut(args.as_str().unwrap_or_default());
            let piece = |(place, part): (usize, &String)| match place {
                0 => {
                    json!([{"index": number, "id": id, "type": "function", "function": {"name": name, "arguments": part}}])
                }
                _ if repeats => {
                    json!([{"index": number, "id": id, "function": {"name": name, "arguments": part}}])
                }
                _ => json!([{"index": number, "function": {"arguments": part}}]),
            };
            calls.push(parts.iter().enumerate().map(piece).collect());
        }
        if !in_turn {
            return calls.concat();
        }
        let longest = calls.iter().map(Vec::len).max().unwrap_or_default();
        let turn = |place: usize| calls.iter().filter_map(move |call| call.get(place).cloned());
        (0..longest).flat_map(turn).collect()
    }
}

pub(in crate::fuzz) fn seeds() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 5] = [
        b"",
        b"\x03Is it\x04Yes.\x00\x02\x03add\x02\x01a\x03\x07\x00\x00\x00\x00\x00\x00\x00\x00\x01b\x02\x02hi\x02no\x00\x01\x09\x00\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x02\x05\x01\x03\x01\x01\x01\x02\x03\x01",
        "\u{0}\u{18}Sch\u{f6}ne Gr\u{fc}\u{df}e \u{1f980}\r\n\"\\\u{0}\u{0}\u{1}\u{1}\u{1}\u{3}\u{2}\u{6}\u{3}\u{0}".as_bytes(),
        b"\x00\x00\x07I must.\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00\x01\x00\x01\x01\x02\x01\x01",
        b"\x01a\x01b\x00\x03\x01x\x01\x01y\x08\x77\x01z\x00\x01w\x02\x02ab\x05\x9a\x99\x99\x99\x99\x99\xb9\x3f\x00\x02cd\x07\x02\x01e\x06\x03\x01\x00\x00\x01\x01\x00\x01\x02\x03\x01\x02",
    ];
    texts.map(<[u8]>::to_vec).into()
}
