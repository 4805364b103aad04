//! The format of an encrypted value: a version, the number of the key, a nonce, the ciphertext and a tag.

use std::sync::Arc;

use chacha20poly1305::aead::Generate;
use chacha20poly1305::{AeadInOut, KeyInit, XChaCha20Poly1305, XNonce};

use super::associated_data::AssociatedData;
use super::keys::{Key, Keys};
use crate::checkpoint::CheckpointError;
use crate::payload::{Encoding, Payload};

/// The only version so far. The associated data has a version of its own.
const VERSION: u8 = 1;

/// The reason why an encrypted value cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    #[error("it is not encrypted")]
    NotEncrypted,
    #[error("it is truncated")]
    Truncated,
    #[error("its encryption format {0} is not supported: update the program")]
    UnknownVersion(u8),
    #[error("it is encrypted under key {0}, which is missing: add it with `Keys::with_old`")]
    MissingKey(u32),
    #[error("it was changed or moved, or key {0} has another secret than the one that encrypted it")]
    NotAuthentic(u32),
    #[error("the encrypted payload has encoding {0}, which is not supported: update the program")]
    UnknownEncoding(u8),
}

/// Encrypts a payload for a location. `None` is sealed as an empty value.
pub(super) fn seal(
    keys: &Keys,
    data: &AssociatedData,
    payload: Option<&Payload>,
) -> Result<Payload, CheckpointError> {
    let key = keys.current();
    let nonce = XNonce::try_generate()
        .map_err(|error| CheckpointError::backend("get random bytes to encrypt with", error))?;
    let mut content = Vec::with_capacity(payload.map_or(0, |payload| payload.len() + 1));
    if let Some(payload) = payload {
        content.push(payload.encoding().code());
        content.extend_from_slice(payload.bytes());
    }
    let tag = cipher(key)
        .encrypt_inout_detached(&nonce, data.as_bytes(), content.as_mut_slice().into())
        .map_err(|_| CheckpointError::backend("encrypt a value", "it is larger than 256 GiB"))?;
    let parts: [&[u8]; 5] = [&[VERSION], &key.id().to_le_bytes(), &nonce, &content, &tag];
    Ok(Payload::new(Encoding::Sealed, parts.concat()))
}

/// Decrypts a payload that was encrypted for a location.
pub(super) fn open(
    keys: &Keys,
    data: &AssociatedData,
    payload: &Payload,
) -> Result<Option<Payload>, OpenError> {
    if payload.encoding() != Encoding::Sealed {
        return Err(OpenError::NotEncrypted);
    }
    let (version, sealed) = payload.bytes().split_first().ok_or(OpenError::Truncated)?;
    if *version != VERSION {
        return Err(OpenError::UnknownVersion(*version));
    }
    let (id, sealed) = sealed.split_first_chunk().ok_or(OpenError::Truncated)?;
    let (nonce, sealed) = sealed.split_first_chunk::<24>().ok_or(OpenError::Truncated)?;
    let (content, tag) = sealed.split_last_chunk::<16>().ok_or(OpenError::Truncated)?;
    let id = u32::from_le_bytes(*id);
    let key = keys.find(id).ok_or(OpenError::MissingKey(id))?;

    let mut content: Arc<[u8]> = content.into();
    cipher(key)
        .decrypt_inout_detached(nonce.into(), data.as_bytes(), Arc::make_mut(&mut content).into(), tag.into())
        .map_err(|_| OpenError::NotAuthentic(id))?;
    let Some(&code) = content.first() else { return Ok(None) };
    let encoding = Encoding::from_code(code).ok_or(OpenError::UnknownEncoding(code))?;
    let range = 1..content.len();
    Ok(Payload::part_of(encoding, content, range))
}

/// Creates the cipher for one value. It is only a copy of the key, which it wipes on drop.
fn cipher(key: &Key) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.secret().into())
}
