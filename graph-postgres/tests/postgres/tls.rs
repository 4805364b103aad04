//! Connections over TLS, to a server whose certificate the test has made.

use std::error::Error as _;
use std::time::Instant;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use superstep_conformance::block_on;
use superstep_postgres::{PostgresCheckpointer, PostgresOptions};
use superstep_store::checkpoint::{CheckpointError, Checkpointer as _, Fence};
use tokio_postgres::NoTls;

use crate::log::{after, append, read};
use crate::private_server::PrivateServer;

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Starts a server with a certificate for `localhost`, which speaks TLS and plain text.
fn start(authority: &CertifiedIssuer<'_, KeyPair>) -> Option<PrivateServer> {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    let files = [("server.crt", certificate.pem()), ("server.key", key.serialize_pem())];
    PrivateServer::start(&files, &["ssl=on"])
}

fn url(server: &PrivateServer, host: &str, mode: &str) -> String {
    format!("postgres://postgres@{host}:{}/postgres?sslmode={mode}&application_name={mode}", server.port)
}

fn options(authority: &CertifiedIssuer<'_, KeyPair>) -> PostgresOptions {
    PostgresCheckpointer::options().root_certificates(authority.pem())
}

/// Returns for each connection of a program whether it is encrypted.
fn encrypted(server: &PrivateServer, program: &'static str) -> Vec<bool> {
    let url = server.url();
    let connections = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
            let connection = tokio::spawn(connection);
            let statement = "SELECT s.ssl FROM pg_stat_ssl s JOIN pg_stat_activity USING (pid) \
                WHERE application_name = $1";
            let rows = client.query(statement, &[&program]).await.unwrap();
            drop(client);
            let _ = connection.await;
            rows.iter().map(|row| row.get(0)).collect()
        })
    });
    connections.join().unwrap()
}

/// Checks that a server is refused at once, with advice.
fn assert_refused(connected: Result<PostgresCheckpointer, CheckpointError>, begun: Instant, cause: &str) {
    let error = connected.unwrap_err();
    assert!(!error.is_transient(), "{error:?}");
    let source = error.source().unwrap().to_string();
    assert!(
        source.contains("no verified TLS connection") && source.contains("root_certificates"),
        "{source}"
    );
    assert!(source.contains(cause), "{source}");
    assert!(begun.elapsed().as_secs() < 20, "it was tried again: {:?}", begun.elapsed());
}

#[test]
fn connections_are_encrypted_and_the_server_is_verified() {
    let trusted = authority("trusted");
    let Some(server) = start(&trusted) else { return };

    let store = block_on(options(&trusted).connect(&url(&server, "localhost", "require"))).unwrap();
    let batch = append("t", Fence::default(), "over TLS");
    let fence = after(&batch);
    block_on(store.commit(batch)).unwrap();
    assert_eq!(block_on(read(&store, "t")).unwrap(), (fence, vec!["over TLS".to_owned()]));
    let connections = encrypted(&server, "require");
    assert!(!connections.is_empty() && connections.iter().all(|encrypted| *encrypted), "{connections:?}");

    // The certificate is for another name.
    let begun = Instant::now();
    let other_name = block_on(options(&trusted).connect(&url(&server, "127.0.0.1", "require")));
    assert_refused(other_name, begun, "not valid for name");

    // The certificate is signed by an authority that the program does not know.
    for unknown in [options(&authority("unknown")), PostgresCheckpointer::options()] {
        let begun = Instant::now();
        let refused = block_on(unknown.clone().connect(&url(&server, "localhost", "require")));
        assert_refused(refused, begun, "UnknownIssuer");

        // `prefer` promises nothing: it connects without TLS.
        let plain = block_on(unknown.connect(&url(&server, "localhost", "prefer"))).unwrap();
        assert_eq!(block_on(read(&plain, "t")).unwrap().0, fence);
        let connections = encrypted(&server, "prefer");
        assert!(!connections.is_empty() && !connections.contains(&true), "{connections:?}");
    }
}
