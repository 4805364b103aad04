use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::engine::also_null::also_null;
use crate::engine::encoded::{Builder, EncodedWrite};
use crate::engine::persist::packet_json;
use crate::engine::task::WriteOf;
use crate::node::{Choice, Leave, Step};
use crate::payload::{Encoding, Payload};
use crate::plan::ExitPlan;
use crate::state::{Decoded, Form, GraphState, Update as _};

/// What a node has returned, as a cache keeps it: what its reducers have not prepared, so that ids are made anew for each task
/// that it stands for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    writes: Vec<KeptWrite>,
    /// The exits of its route that it took; nothing when it left by edges, or a function says where to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exits: Option<Vec<KeptExit>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptWrite {
    field: String,
    form: KeptForm,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "also_null")]
    json: Option<Box<RawValue>>,
    /// A value that is nothing but bytes, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeptForm {
    Update,
    Delta,
    Overwrite,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeptExit {
    exit: String,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "also_null")]
    packet: Option<Box<RawValue>>,
}

/// What a node has returned, to be kept; in words why that cannot be.
pub(in crate::engine) fn keep<S: GraphState>(step: &Step<S>, exits: &[ExitPlan]) -> Result<Payload, String> {
    let encoded = Builder::of_updates::<S>(step.update.__writes()).map_err(|error| error.to_string())?;
    let Some(encoded) = encoded else {
        return Err("it has written to an untracked field, which stays in its process".to_owned());
    };
    let writes = encoded.writes.iter().map(|write| {
        let payload = encoded.payload(write);
        kept_write::<S>(write, &payload.ok_or("a write of it was lost")?)
    });
    let exit = |choice: &Choice| {
        let packet = choice.packet.as_ref().map(packet_json).transpose();
        let exit = exits.get(choice.exit).ok_or("it has left by an exit that its node does not have")?;
        Ok(KeptExit { exit: exit.label.to_owned(), packet: packet.map_err(|error| error.to_string())? })
    };
    let taken = match &step.leave {
        Leave::ByEdges => None,
        Leave::By(choice) => Some(vec![exit(choice)?]),
        Leave::ByAll(choices) => Some(choices.iter().map(exit).collect::<Result<_, String>>()?),
        Leave::Outward(_) => return Err("it says something to the graph around its own".to_owned()),
    };
    let kept = Kept { writes: writes.collect::<Result<_, String>>()?, exits: taken };
    serde_json::to_string(&kept).map(Payload::json).map_err(|error| error.to_string())
}

fn kept_write<S: GraphState>(write: &EncodedWrite, payload: &Payload) -> Result<KeptWrite, String> {
    let field = S::field(write.field).ok_or("it has written to a field that there is not")?.name.to_owned();
    let form = match write.form {
        Form::Update => KeptForm::Update,
        Form::Delta => KeptForm::Delta,
        Form::Overwrite => KeptForm::Overwrite,
    };
    let (json, bytes) = match payload.encoding() {
        Encoding::Json => {
            let text = String::from_utf8(payload.bytes().to_vec()).map_err(|error| error.to_string())?;
            (Some(RawValue::from_string(text).map_err(|error| error.to_string())?), None)
        }
        _ => (None, Some(hexadecimal(payload.bytes()))),
    };
    Ok(KeptWrite { field, form, json, bytes })
}

/// What a node has returned then; in words why it cannot be read. Nothing of it is left out.
pub(in crate::engine) fn read<S: GraphState>(
    payload: &Payload,
    exits: &[ExitPlan],
) -> Result<Step<S>, String> {
    if payload.encoding() != Encoding::Json {
        return Err("it is no JSON".to_owned());
    }
    // In the words of `serde`, which quote what it has read: that may be what the state keeps to itself.
    let kept: Kept =
        serde_json::from_slice(payload.bytes()).map_err(|_| "it has not the form of a result".to_owned())?;
    let writes = kept.writes.into_iter().map(read_write::<S>).collect::<Result<_, String>>()?;
    let update = S::Update::__from_writes(writes);
    let leave = match kept.exits {
        None if exits.is_empty() => Leave::ByEdges,
        None => return Err("its node has left by an edge then, and has a route now".to_owned()),
        Some(taken) => {
            let choices = taken.into_iter().map(|exit| read_exit(exit, exits));
            let mut choices: Vec<Choice> = choices.collect::<Result<_, String>>()?;
            match (choices.len(), choices.pop()) {
                (1, Some(choice)) => Leave::By(choice),
                (_, last) => {
                    choices.extend(last);
                    Leave::ByAll(choices)
                }
            }
        }
    };
    Ok(Step { update, leave })
}

fn read_write<S: GraphState>(kept: KeptWrite) -> Result<WriteOf<S>, String> {
    let KeptWrite { field, form, json, bytes } = kept;
    let form = match form {
        KeptForm::Update => Form::Update,
        KeptForm::Delta => Form::Delta,
        KeptForm::Overwrite => Form::Overwrite,
    };
    let payload = match (json, bytes) {
        (Some(json), None) => Some(Payload::json(json.get())),
        (None, Some(digits)) => from_hexadecimal(&digits).map(|bytes| Payload::new(Encoding::Bytes, bytes)),
        _ => None,
    };
    let payload = payload.ok_or_else(|| format!("what was written to field `{field}` is not there"))?;
    match <WriteOf<S> as crate::state::FieldWrite<S>>::__decode(&field, form, &payload) {
        Decoded::Write(write) => Ok(write),
        Decoded::Unknown => Err(format!("it writes to field `{field}`, which the state does not have")),
        Decoded::Invalid(error) => Err(error.to_string()),
    }
}

fn read_exit(kept: KeptExit, exits: &[ExitPlan]) -> Result<Choice, String> {
    let KeptExit { exit, packet } = kept;
    let found = exits.iter().enumerate().find(|(_, known)| known.label == exit);
    let (index, known) = found.ok_or_else(|| format!("the route of its node has no exit `{exit}`"))?;
    let packet = match (packet, known.packet) {
        (None, None) => None,
        (Some(json), Some(packet)) => {
            let read = packet.read().ok_or_else(|| format!("what exit `{exit}` carries cannot be read"))?;
            Some(
                read(json.get().as_bytes())
                    .map_err(|_| format!("what exit `{exit}` carries is another type now"))?,
            )
        }
        _ => return Err(format!("exit `{exit}` carries something either then or now")),
    };
    Ok(Choice { exit: index, packet })
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a text does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

fn from_hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| if let [high, low] = pair { Some(digit(*high)? << 4 | digit(*low)?) } else { None })
        .collect()
}
