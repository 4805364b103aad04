//! An endpoint with https. A process reads the certificates that it trusts once, so each case is a process of its own.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::{env, fs, thread};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use superstep_agent::{ChatModel as _, OpenAiModel};

use crate::{TIMEOUT, why};

/// The port of the endpoint, for the process that calls it.
const PORT: &str = "SUPERSTEP_TEST_TLS_PORT";

const REPLY: &str = r#"{"id":"1","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Because."}}]}"#;

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// Starts an endpoint whose certificate is for `localhost`. Returns its port.
fn start(authority: &CertifiedIssuer<'_, KeyPair>) -> u16 {
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, authority).unwrap();
    let chain = vec![CertificateDer::from(certificate.der().to_vec())];
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = Arc::new(builder.with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            // A client that refuses the certificate disconnects.
            let _ = answer(stream.unwrap(), Arc::clone(&config));
        }
    });
    port
}

fn answer(stream: TcpStream, config: Arc<ServerConfig>) -> std::io::Result<()> {
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut stream = StreamOwned::new(connection, stream);
    let mut request = Vec::new();
    while !request.ends_with(b"}") {
        let mut part = [0; 4096];
        match stream.read(&mut part)? {
            0 => break,
            length => request.extend(&part[..length]),
        }
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{REPLY}", REPLY.len())?;
    stream.conn.send_close_notify();
    stream.flush()
}

/// Calls the endpoint in a process that trusts `trusted`, and returns what the process prints.
fn call(port: u16, trusted: &CertifiedIssuer<'_, KeyPair>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trusted.pem");
    fs::write(&file, trusted.pem()).unwrap();
    let output = Command::new(env::current_exe().unwrap())
        .args(["tls::child_process", "--exact", "--nocapture"])
        .env(PORT, port.to_string())
        .env("SSL_CERT_FILE", &file)
        .env_remove("SSL_CERT_DIR")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Does nothing by itself: the other tests start it with a port.
#[tokio::test]
async fn child_process() {
    let Ok(port) = env::var(PORT) else { return };
    for host in ["localhost", "127.0.0.1"] {
        let endpoint = format!("https://{host}:{port}/v1");
        let model =
            OpenAiModel::builder("m").endpoint(endpoint).timeout(TIMEOUT).max_retries(0).build().unwrap();
        match model.complete(&why()).await {
            Ok(reply) => println!("{host} says {}", reply.content.text()),
            Err(error) => println!("{host} fails: {error:?}"),
        }
    }
}

#[test]
fn certificate_has_to_be_trusted_and_for_the_host() {
    let trusted = authority("trusted");
    let port = start(&trusted);
    let output = call(port, &trusted);
    assert!(output.contains("localhost says Because."), "{output}");
    assert!(output.contains("127.0.0.1 fails: Unreachable"), "{output}");
    assert!(output.contains("NotValidForName"), "{output}");

    let output = call(port, &authority("other"));
    assert!(output.contains("localhost fails: Unreachable"), "{output}");
    assert!(output.contains("UnknownIssuer"), "{output}");
    assert!(!output.contains("Because."), "{output}");
}
