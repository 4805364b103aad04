//! A proxy that cuts connections at a statement, for example the commit of a transaction, or delays answers as a distant
//! server does.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::str::FromStr as _;
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::fixture::url;

/// The place of the next cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The server does not receive the statement.
    Before,
    /// The server executes the statement, but the client does not receive the answer.
    After,
}

/// The message that commits a transaction.
pub(crate) const COMMIT: &str = "Q\0\0\0\x0bCOMMIT\0";

/// A part of the statement at which the connection is cut, and the place.
type Next = Mutex<Option<(&'static str, Cut)>>;

#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) url: String,
    next: Arc<Next>,
    /// Locked while new connections have to wait.
    gate: Arc<Mutex<()>>,
    /// The time that an answer takes to the client.
    delay: Arc<Mutex<Duration>>,
}

impl Proxy {
    /// Starts a proxy for the server of the tests. Its thread lasts until the process ends.
    pub(crate) fn start() -> Self {
        let config = Config::from_str(url().unwrap()).unwrap();
        let [Host::Tcp(host), ..] = config.get_hosts() else { panic!("PG_URL names a TCP server") };
        let server = (host.clone(), config.get_ports().first().copied().unwrap_or(5432));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let password =
            config.get_password().map(|text| format!("password={}", String::from_utf8_lossy(text)));
        let url = format!(
            "host=127.0.0.1 port={} user={} dbname={} {}",
            listener.local_addr().unwrap().port(),
            config.get_user().unwrap_or("postgres"),
            config.get_dbname().unwrap_or("postgres"),
            password.unwrap_or_default()
        );
        let next = Arc::new(Mutex::new(None));
        let gate = Arc::new(Mutex::new(()));
        let delay = Arc::new(Mutex::new(Duration::ZERO));
        let (cuts, opened, delayed) = (Arc::clone(&next), Arc::clone(&gate), Arc::clone(&delay));
        thread::spawn(move || {
            for client in listener.incoming() {
                drop(opened.lock().unwrap());
                let (cuts, delay, server) = (Arc::clone(&cuts), Arc::clone(&delayed), server.clone());
                thread::spawn(move || {
                    serve(client.unwrap(), TcpStream::connect(server).unwrap(), &cuts, delay);
                });
            }
        });
        Self { url, next, gate, delay }
    }

    /// Lets every answer take this time. Answers do not wait for each other.
    pub(crate) fn delay(&self, time: Duration) {
        *self.delay.lock().unwrap() = time;
    }

    /// Lets new connections wait until the guard is dropped.
    pub(crate) fn hold(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().unwrap()
    }

    /// Cuts the next connection that sends a statement with this part.
    pub(crate) fn cut(&self, statement: &'static str, cut: Cut) {
        *self.next.lock().unwrap() = Some((statement, cut));
    }

    /// Returns `true` if the last cut was made.
    pub(crate) fn has_cut(&self) -> bool {
        self.next.lock().unwrap().is_none()
    }
}

/// Passes answers on, each after the delay.
fn answer(mut answers: TcpStream, mut receiver: TcpStream, delay: &Mutex<Duration>) {
    let (arrived, arrivals) = mpsc::channel::<(Instant, Vec<u8>)>();
    let sending = thread::spawn(move || {
        for (due, bytes) in arrivals {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if receiver.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = receiver.shutdown(Shutdown::Both);
    });
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = answers.read(&mut buffer) {
        let due = Instant::now() + *delay.lock().unwrap();
        if arrived.send((due, buffer[..count].to_vec())).is_err() {
            break;
        }
    }
    drop(arrived);
    let _ = sending.join();
}

fn serve(mut client: TcpStream, mut server: TcpStream, cuts: &Next, delay: Arc<Mutex<Duration>>) {
    let (answers, receiver) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || answer(answers, receiver, &delay));
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = client.read(&mut buffer) {
        let message = &buffer[..count];
        let found =
            |(part, _): &mut (&str, Cut)| message.windows(part.len()).any(|window| window == part.as_bytes());
        let cut = cuts.lock().unwrap().take_if(found);
        match cut {
            Some((_, Cut::Before)) => break,
            Some((_, Cut::After)) => {
                // The client receives nothing more. The server closes the connection when it has done everything.
                let _ = client.shutdown(Shutdown::Both);
                let _ = server.write_all(message);
                let _ = server.write_all(b"X\0\0\0\x04");
                return;
            }
            None => {}
        }
        if server.write_all(message).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
    let _ = client.shutdown(Shutdown::Both);
}
