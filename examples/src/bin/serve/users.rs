//! Users with keys: an example of `Server::authenticate`. Each user sees its own threads, and nothing of the others.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use superstep_server::{AuthError, AuthRequest, Identity, Server};

use crate::arguments::UserKey;

type Fingerprint = [u8; 32];

/// Adds the users to a server. Only digests of their keys are kept: how long it takes to find one says nothing about a key.
pub(crate) fn add(server: Server, users: Vec<UserKey>) -> Server {
    let names: HashMap<Fingerprint, Arc<str>> =
        users.into_iter().map(|user| (fingerprint(&user.key), user.name.into())).collect();
    let names = Arc::new(names);
    server.authenticate(move |request: AuthRequest| {
        let names = Arc::clone(&names);
        async move { recognize(&names, &request) }
    })
}

fn recognize(names: &HashMap<Fingerprint, Arc<str>>, request: &AuthRequest) -> Result<Identity, AuthError> {
    let key = request.header("x-api-key").or_else(|| request.bearer_token());
    let key =
        key.ok_or_else(|| AuthError::unauthenticated("send the key of a user in the header `x-api-key`"))?;
    match names.get(&fingerprint(key)) {
        // Two keys of one name are one user.
        Some(name) => Ok(Identity::new(Arc::clone(name))),
        None => Err(AuthError::unauthenticated("the key is not that of a user")),
    }
}

fn fingerprint(key: &str) -> Fingerprint {
    Sha256::digest(key).into()
}
