//! `ask` with its threads in a PostgreSQL database, on the server that `PG_URL` names.

use std::io::Write as _;
use std::str::FromStr as _;

use tokio_postgres::{Config, NoTls};

use super::{ask, command, fails, folder, guide, stderr, stdout};

/// A database of its own. It is deleted at the end of the test.
struct Database {
    server: String,
    name: String,
}

impl Database {
    /// Returns `None` without a server.
    fn new() -> Option<Self> {
        let Ok(server) = std::env::var("PG_URL") else {
            // Not a macro, whose output the harness hides.
            let hint = "set it, for example to postgres://postgres@127.0.0.1:5432/test";
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: `ask` with a PostgreSQL database, because PG_URL is not set: {hint}"
            );
            return None;
        };
        let database = Self { server, name: format!("ask_{}", std::process::id()) };
        database.execute("CREATE DATABASE");
        Some(database)
    }

    fn execute(&self, statement: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&self.server, NoTls).await.unwrap();
            let driver = tokio::spawn(connection);
            client.batch_execute(&format!("{statement} {}", self.name)).await.unwrap();
            drop(client);
            driver.await.unwrap().unwrap();
        });
    }

    fn url(&self) -> String {
        let config = Config::from_str(&self.server).unwrap();
        let host = match config.get_hosts() {
            [tokio_postgres::config::Host::Tcp(host), ..] => host.clone(),
            _ => "127.0.0.1".to_owned(),
        };
        let password =
            config.get_password().map(|password| format!(":{}", String::from_utf8_lossy(password)));
        format!(
            "postgres://{}{}@{host}:{}/{}",
            config.get_user().unwrap_or("postgres"),
            password.unwrap_or_default(),
            config.get_ports().first().unwrap_or(&5432),
            self.name
        )
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.execute("DROP DATABASE");
    }
}

#[test]
fn threads_in_a_database_continue_in_another_process() {
    let Some(database) = Database::new() else { return };
    let url = database.url();
    let folder = guide();
    let question = "How do zebras dance? What is a superstep?";
    let asked = ask(folder.path(), &["--db", &url, "--thread", "zebra", question, "."]);
    fails(&asked, 3, &format!("ask --db '{url}' --thread zebra --resume 'other words'"));
    // Nothing is stored in a file.
    assert!(!folder.path().join(".threads").exists());

    let elsewhere = tempfile::tempdir().unwrap();
    let output = ask(elsewhere.path(), &["--db", &url, "--resume", "sources of joins"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        stdout(&output).contains("“A join waits for all of its sources.” — docs/guide.md:9"),
        "{}",
        stdout(&output)
    );
    let history = ask(elsewhere.path(), &["--db", &url, "--history"]);
    assert!(history.status.success() && stdout(&history).lines().count() > 4, "{}", stdout(&history));
    let fork = stdout(&history).lines().last().unwrap().split_whitespace().next().unwrap().to_owned();
    let forked = ask(folder.path(), &["--db", &url, "--fork", &fork, "What is a join?", "."]);
    assert!(forked.status.success(), "{}", stderr(&forked));
}

#[test]
fn database_errors_show_no_password() {
    let folder = folder(&[("a.md", b"A join waits.\n")]);
    let url = "postgres://ann:secret@127.0.0.1/x?sslmode=nonsense";
    let output = ask(folder.path(), &["--db", url, "What is a join?", "."]);
    fails(&output, 1, "cannot store threads in the database (choose another one with `--db`): ");
    assert!(!stderr(&output).contains("secret"), "{}", stderr(&output));
}

#[test]
fn help_names_files_and_databases() {
    let help = command(tempfile::tempdir().unwrap().path()).arg("--help").output().unwrap();
    assert!(stdout(&help).contains("--db <FILE|URL>"), "{}", stdout(&help));
    assert!(stdout(&help).contains("postgres://"), "{}", stdout(&help));
}
