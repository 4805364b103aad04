//! TLS through rustls. The name and the certificate of the server are always verified.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::Failure;
use crate::options::PostgresOptions;

pub(crate) fn connector(config: &Config, options: &PostgresOptions) -> Result<MakeRustlsConnect, Failure> {
    let roots = match config.get_ssl_mode() {
        SslMode::Disable => RootCertStore::empty(),
        _ => roots(&options.root_certificates)?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Failure::backend)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn roots(pem: &[u8]) -> Result<RootCertStore, Failure> {
    let mut roots = RootCertStore::empty();
    if pem.is_empty() {
        // A platform may have certificates that rustls does not accept.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return Ok(roots);
    }
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| {
            Failure::backend(format!("the root certificates are not in PEM format: {error}"))
        })?;
        roots.add(certificate).map_err(Failure::backend)?;
    }
    Ok(roots)
}
