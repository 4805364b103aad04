//! Packets from JSON of a caller.

use serde_json::Value;

use crate::payload::{Unreadable, push_key};

use super::packet::{Packet, ReadPacket};

/// Reads a packet from JSON of a caller. The error says where in the JSON the wrong value is.
pub(crate) fn given_packet(read: ReadPacket, json: &Value) -> Result<Packet, String> {
    let text = serde_json::to_string(json).map_err(|error| error.to_string())?;
    read(text.as_bytes()).map_err(|error| located(&text, &error))
}

/// Replaces the column in an error of serde by the path of the value there.
fn located(json: &str, error: &Unreadable) -> String {
    let error = error.to_string();
    // The JSON has no line breaks.
    let found = error.rsplit_once(" at line 1 column ");
    match found.and_then(|(reason, column)| Some((reason, column.parse().ok()?))) {
        Some((reason, column)) => format!("at `{}`: {reason}", path_of(json, column)),
        None => error,
    }
}

/// A list or an object of which some values were read.
enum Open {
    List(usize),
    Object(Option<String>),
}

/// Returns the path of the value that a reader has read last, or is about to read, after this many bytes of the JSON.
fn path_of(json: &str, bytes: usize) -> String {
    let (mut open, mut string): (Vec<Open>, Option<usize>) = (Vec::new(), None);
    let (mut escaped, mut is_key) = (false, false);
    for (at, byte) in json.bytes().enumerate().take(bytes) {
        if let Some(start) = string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    string = None;
                    if is_key && let Some(Open::Object(key)) = open.last_mut() {
                        is_key = false;
                        *key = json.get(start..=at).and_then(|key| serde_json::from_str(key).ok());
                    }
                }
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => string = Some(at),
            b'{' => {
                open.push(Open::Object(None));
                is_key = true;
            }
            b'[' => open.push(Open::List(0)),
            b'}' | b']' => {
                open.pop();
                is_key = false;
            }
            b',' => match open.last_mut() {
                Some(Open::List(index)) => *index += 1,
                Some(Open::Object(key)) => {
                    *key = None;
                    is_key = true;
                }
                None => {}
            },
            _ => {}
        }
    }
    let mut path = "$".to_owned();
    for inside in &open {
        match inside {
            Open::List(index) => path.push_str(&format!("[{index}]")),
            Open::Object(Some(key)) => push_key(&mut path, key),
            Open::Object(None) => {}
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;
    use crate::erased::{PacketType, Payload};

    #[derive(Serialize, Deserialize)]
    struct Line {
        text: String,
        #[serde(default)]
        marks: Vec<u8>,
        #[serde(default)]
        inside: Option<Box<Line>>,
    }

    fn check<T: Payload>(json: Value, expected: &str) {
        let error = given_packet(PacketType::reader::<T>(), &json).map(drop).unwrap_err();
        assert_eq!(error, expected);
    }

    #[test]
    fn error_has_the_path_of_the_wrong_value() {
        check::<Line>(json!({"text": 3}), "at `$.text`: invalid type: integer `3`, expected a string");
        check::<Line>(json!({}), "at `$`: missing field `text`");
        check::<Line>(
            json!({"text": "a", "marks": [1, 2, 300]}),
            "at `$.marks[2]`: invalid value: integer `300`, expected u8",
        );
        check::<Line>(
            json!({"text": "a", "marks": [1, {}]}),
            "at `$.marks[1]`: invalid type: map, expected u8",
        );
        check::<Line>(
            json!({"text": "a", "marks": [[]]}),
            "at `$.marks[0]`: invalid type: sequence, expected u8",
        );
        check::<Line>(
            json!({"text": "a", "inside": {"text": "b", "inside": {"marks": []}}}),
            "at `$.inside.inside`: missing field `text`",
        );
        check::<BTreeMap<String, u8>>(
            json!({"a \"b\\": 1, "c,{[": "x"}),
            "at `$[\"c,{[\"]`: invalid type: string \"x\", expected u8",
        );
        check::<u8>(json!("x"), "at `$`: invalid type: string \"x\", expected u8");
        check::<Vec<u8>>(json!(7), "at `$`: invalid type: integer `7`, expected a sequence");
    }

    #[test]
    fn position_at_any_byte_has_a_path() {
        let text = json!({"a": [1, {"b\"\\": [null, "x"]}], "ö": {}}).to_string();
        for bytes in 0..=text.len() + 1 {
            assert!(path_of(&text, bytes).starts_with('$'));
        }
    }
}
