//! TLS of the calls.

use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls_platform_verifier::BuilderVerifierExt as _;

/// A client that accepts the certificates that the machine trusts, with the ciphers of the process: `ring`, if the program has
/// not installed others. The certificates are read once.
pub(super) fn of_machine() -> Result<ClientConfig, rustls::Error> {
    static CONFIG: OnceLock<ClientConfig> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(config.clone());
    }
    let provider =
        CryptoProvider::get_default().cloned().unwrap_or_else(|| Arc::new(ring::default_provider()));
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let config = builder.with_platform_verifier()?.with_no_client_auth();
    Ok(CONFIG.get_or_init(|| config).clone())
}
