use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::engine::task::encoded::{Builder, EncodedWrite};
use crate::erased::{StateType, TaskWrites, also_null};
use crate::payload::{Encoding, Payload};
use crate::plan::ExitPlan;
use crate::state::{Decoded, Form};
use crate::step::{Choice, ErasedStep, Leave, StoredExit, UnreadablePacket};

/// The result of a node as a cache stores it.
///
/// The writes are stored before reducers prepare them, so that each task that reuses the result gets its own ids.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CachedResult {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    writes: Vec<CachedWrite>,
    /// The exits that its route took; `None` if it followed edges, or if a route function decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exits: Option<Vec<StoredExit>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CachedWrite {
    field: String,
    form: CachedForm,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "also_null")]
    json: Option<Box<RawValue>>,
    /// A value that is plain bytes, in hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CachedForm {
    Update,
    Delta,
    Overwrite,
}

/// Encodes a node's result for the cache; the error says why it cannot be cached.
pub(crate) fn keep(
    state: &'static StateType,
    step: &ErasedStep,
    exits: &[ExitPlan],
) -> Result<Payload, String> {
    let encoded = Builder::of_updates(&step.writes).map_err(|error| error.to_string())?;
    let Some(encoded) = encoded else {
        return Err("the node wrote to an untracked field, which is never stored".to_owned());
    };
    let writes = encoded.writes.iter().map(|write| {
        let payload = encoded.payload(write);
        cached_write(
            state,
            write,
            &payload.ok_or("internal error: the encoded bytes of a write are missing")?,
        )
    });
    let stored = |choice: &Choice| {
        let exit = exits.get(choice.exit).ok_or("the node left by an exit that its route does not have")?;
        StoredExit::of(exit.label, choice).map_err(|error| error.to_string())
    };
    let taken = match &step.leave {
        Leave::ByEdges => None,
        Leave::ErasedParentCommand(_) => {
            return Err("the node returned a command for the parent graph".to_owned());
        }
        leave => Some(leave.choices().iter().map(stored).collect::<Result<_, String>>()?),
    };
    let cached = CachedResult { writes: writes.collect::<Result<_, String>>()?, exits: taken };
    serde_json::to_string(&cached).map(Payload::json).map_err(|error| error.to_string())
}

fn cached_write(state: &StateType, write: &EncodedWrite, payload: &Payload) -> Result<CachedWrite, String> {
    let field = state.field(write.field).ok_or("the node wrote to a field that the state does not have")?;
    let field = field.name.to_owned();
    let form = match write.form {
        Form::Update => CachedForm::Update,
        Form::Delta => CachedForm::Delta,
        Form::Overwrite => CachedForm::Overwrite,
    };
    let (json, bytes) = match payload.encoding() {
        Encoding::Json => {
            let text = String::from_utf8(payload.bytes().to_vec()).map_err(|error| error.to_string())?;
            (Some(RawValue::from_string(text).map_err(|error| error.to_string())?), None)
        }
        _ => (None, Some(hexadecimal(payload.bytes()))),
    };
    Ok(CachedWrite { field, form, json, bytes })
}

/// Decodes a cached result completely; the error says why it cannot be used.
pub(crate) fn read(
    state: &'static StateType,
    payload: &Payload,
    exits: &[ExitPlan],
) -> Result<ErasedStep, String> {
    if payload.encoding() != Encoding::Json {
        return Err("the cached entry is not JSON".to_owned());
    }
    // The error of `serde` is dropped: it quotes its input, which may hold an excluded value.
    let cached: CachedResult =
        serde_json::from_slice(payload.bytes()).map_err(|_| "the entry is not a cached result".to_owned())?;
    let mut writes = TaskWrites::default();
    for cached in cached.writes {
        read_write(state, cached, &mut writes)?;
    }
    let leave = match cached.exits {
        None if exits.is_empty() => Leave::ByEdges,
        None => return Err("the cached result has no exit, and the node has a route now".to_owned()),
        Some(taken) => {
            let choices = taken.iter().map(|taken| read_exit(taken, exits));
            Leave::through(choices.collect::<Result<_, String>>()?)
        }
    };
    Ok(ErasedStep { writes, leave })
}

fn read_write(state: &'static StateType, cached: CachedWrite, into: &mut TaskWrites) -> Result<(), String> {
    let CachedWrite { field, form, json, bytes } = cached;
    let form = match form {
        CachedForm::Update => Form::Update,
        CachedForm::Delta => Form::Delta,
        CachedForm::Overwrite => Form::Overwrite,
    };
    let payload = match (json, bytes) {
        (Some(json), None) => Some(Payload::json(json.get())),
        (None, Some(digits)) => from_hexadecimal(&digits).map(|bytes| Payload::new(Encoding::Bytes, bytes)),
        _ => None,
    };
    let payload = payload.ok_or_else(|| format!("the value of field `{field}` is missing"))?;
    match (state.decode)(&field, form, &payload, into.of_type(state)) {
        Decoded::Write(_) => Ok(()),
        Decoded::Unknown => Err(format!("the state has no field `{field}`")),
        Decoded::Invalid(error) => Err(error.to_string()),
    }
}

fn read_exit(taken: &StoredExit, exits: &[ExitPlan]) -> Result<Choice, String> {
    let label = &taken.exit;
    let exit = taken.find(ExitPlan::known(exits, 0));
    let exit = exit.ok_or_else(|| format!("the node's route has no exit `{label}`"))?;
    if taken.has_packet() != exit.packet.is_some() {
        return Err(format!("exit `{label}` has a packet either in the cached result or now, not in both"));
    }
    taken.choice(exit).map_err(|unreadable| match unreadable {
        UnreadablePacket::NotTaken => format!("the packet of exit `{label}` cannot be read"),
        UnreadablePacket::OtherType(_) => format!("the packet of exit `{label}` has another type now"),
    })
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
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
