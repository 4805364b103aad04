//! The form of an encrypted value: a version, the key's number, a nonce, what is encrypted, a tag.

use std::sync::Arc;

use chacha20poly1305::aead::Generate;
use chacha20poly1305::{AeadInOut, KeyInit, XChaCha20Poly1305, XNonce};

use super::keys::{Key, Keys};
use super::place::Bound;
use crate::checkpoint::CheckpointError;
use crate::payload::{Encoding, Payload};

/// The only version there is; what it is bound to has a version too.
const VERSION: u8 = 1;

/// Why a value is not given on.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("it is not encrypted")]
    Plain,
    #[error("it is cut off")]
    CutOff,
    #[error("its encryption has format {0}, which this program does not know")]
    Newer(u8),
    #[error("it is encrypted under key {0}, which is not there")]
    NoKey(u32),
    #[error(
        "it was changed, or belongs to another place, or key {0} is another one than it was written with"
    )]
    Forged(u32),
    #[error("what is encrypted has encoding {0}, which this program does not know")]
    Encoding(u8),
}

/// Encrypts a payload, or that there is none, for a place.
pub(super) fn seal(
    keys: &Keys,
    bound: &Bound,
    payload: Option<&Payload>,
) -> Result<Payload, CheckpointError> {
    let key = keys.current();
    let nonce = XNonce::try_generate()
        .map_err(|error| CheckpointError::backend("get random bytes to encrypt with", error))?;
    let mut inside = Vec::with_capacity(payload.map_or(0, |payload| payload.len() + 1));
    if let Some(payload) = payload {
        inside.push(payload.encoding().code());
        inside.extend_from_slice(payload.bytes());
    }
    let tag = cipher(key)
        .encrypt_inout_detached(&nonce, bound.as_bytes(), inside.as_mut_slice().into())
        .map_err(|_| CheckpointError::backend("encrypt a value", "it is larger than 256 GiB"))?;
    let parts: [&[u8]; 5] = [&[VERSION], &key.id().to_le_bytes(), &nonce, &inside, &tag];
    Ok(Payload::new(Encoding::Sealed, parts.concat()))
}

/// Decrypts what was encrypted for a place.
pub(super) fn open(keys: &Keys, bound: &Bound, payload: &Payload) -> Result<Option<Payload>, Refused> {
    if payload.encoding() != Encoding::Sealed {
        return Err(Refused::Plain);
    }
    let (version, sealed) = payload.bytes().split_first().ok_or(Refused::CutOff)?;
    if *version != VERSION {
        return Err(Refused::Newer(*version));
    }
    let (id, sealed) = sealed.split_first_chunk().ok_or(Refused::CutOff)?;
    let (nonce, sealed) = sealed.split_first_chunk::<24>().ok_or(Refused::CutOff)?;
    let (inside, tag) = sealed.split_last_chunk::<16>().ok_or(Refused::CutOff)?;
    let id = u32::from_le_bytes(*id);
    let key = keys.of(id).ok_or(Refused::NoKey(id))?;

    let mut inside: Arc<[u8]> = inside.into();
    cipher(key)
        .decrypt_inout_detached(nonce.into(), bound.as_bytes(), Arc::make_mut(&mut inside).into(), tag.into())
        .map_err(|_| Refused::Forged(id))?;
    let Some(&code) = inside.first() else { return Ok(None) };
    let encoding = Encoding::from_code(code).ok_or(Refused::Encoding(code))?;
    let range = 1..inside.len();
    Ok(Payload::part_of(encoding, inside, range))
}

/// Made for each value: it is but a copy of the key, which it wipes when it goes.
fn cipher(key: &Key) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.secret().into())
}
