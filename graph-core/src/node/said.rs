//! What is said to the graph around a subgraph, as it is stored until that graph has it.

use std::any::Any;
use std::sync::Arc;

use crate::checkpoint::{ChangeKind, CheckpointId};
use crate::checkpoint::{StoredChange, StoredField};
use crate::engine::{WriteOf, prepare};
use crate::payload::Payload;
use crate::reducers::Stamp;
use crate::state::{
    Decoded, EncodeError, FieldWrite as _, Form, GraphState, MigrationError, Stored, Update as _, Writes,
};

use super::NodeError;

/// An update of any state.
pub(crate) type AnyUpdate = Arc<dyn Any + Send + Sync>;

/// A write as it is stored: its form, its field and its value.
pub(crate) type StoredWrite = (Form, String, Payload);

/// An update as it is stored, and the versions of the state that it is of.
#[derive(Debug, Default)]
pub(crate) struct StoredUpdate {
    pub(crate) versions: Vec<(String, u32)>,
    pub(crate) writes: Vec<StoredWrite>,
}

/// Why a stored update cannot be read.
#[derive(Debug)]
pub(crate) enum Unread {
    Migration(MigrationError),
    Write { field: String, reason: String },
}

/// The versions of a state and of those that are flattened into it, where they are not 0.
fn versions<P: GraphState>() -> Vec<(String, u32)> {
    let mut versions = Vec::new();
    P::__versions(&mut versions);
    versions.into_iter().map(|(state, version)| (state.to_owned(), version)).collect()
}

/// Runs the reducers' first phase: what is said is settled where it is said.
pub(super) fn prepared<P: GraphState>(update: &AnyUpdate, stamp: Stamp<'_>) -> Result<AnyUpdate, NodeError> {
    let Some(update) = update.downcast_ref::<P::Update>() else { return Ok(Arc::clone(update)) };
    Ok(Arc::new(P::Update::__from_writes(prepare::<P>(update.clone(), stamp)?)))
}

pub(super) fn encode<P: GraphState>(update: &AnyUpdate) -> Result<StoredUpdate, EncodeError> {
    let Some(update) = update.downcast_ref::<P::Update>() else { return Ok(StoredUpdate::default()) };
    let mut all = Vec::new();
    for write in update.__writes().iter() {
        let (mut bytes, spec) = (Vec::new(), P::field(write.field()));
        if let (Some((form, encoding)), Some(spec)) = (write.__encode(&mut bytes)?, spec) {
            if form == Form::Update {
                return Err(EncodeError::not_prepared());
            }
            all.push((form, spec.name.to_owned(), Payload::new(encoding, bytes.as_slice())));
        }
    }
    Ok(StoredUpdate { versions: versions::<P>(), writes: all })
}

pub(super) fn decode<P: GraphState>(stored: StoredUpdate) -> Result<AnyUpdate, Unread> {
    let mut all = Writes::default();
    for write in stored.writes {
        for (form, field, payload) in migrated::<P>(&stored.versions, write)? {
            match WriteOf::<P>::__decode(&field, form, &payload) {
                Decoded::Write(write) => all.push(write),
                Decoded::Unknown => {}
                Decoded::Invalid(error) => return Err(Unread::Write { field, reason: error.to_string() }),
            }
        }
    }
    Ok(Arc::new(P::Update::__from_writes(all)))
}

/// Brings a write to this program's version: a migration sees each as a field of its own.
fn migrated<P: GraphState>(found: &[(String, u32)], write: StoredWrite) -> Result<Vec<StoredWrite>, Unread> {
    if found == versions::<P>() {
        return Ok(vec![write]);
    }
    let (form, field, payload) = write;
    let kind = match form {
        Form::Delta => ChangeKind::Delta,
        Form::Overwrite => ChangeKind::Value,
        // It is not stored so.
        Form::Update => return Ok(vec![(form, field, payload)]),
    };
    // Of no checkpoint: nobody asks.
    let piece = StoredChange { checkpoint: CheckpointId::after(None), kind, payload };
    let mut stored = Stored::__of_writes(vec![StoredField { field, changes: vec![piece] }]);
    P::__migrate(found, &mut stored).map_err(Unread::Migration)?;
    let form = |kind| if kind == ChangeKind::Delta { Form::Delta } else { Form::Overwrite };
    let fields = stored.__into_fields().into_iter();
    let pieces = fields.flat_map(|StoredField { field, changes: pieces }| {
        pieces.into_iter().map(move |piece| (form(piece.kind), field.clone(), piece.payload))
    });
    Ok(pieces.collect())
}
