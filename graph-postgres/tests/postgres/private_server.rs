//! A server that a test starts for itself, with the programs of PostgreSQL.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::server::skip;

/// A server of its own, which can be killed.
pub(crate) struct PrivateServer {
    programs: PathBuf,
    folder: PathBuf,
    pub(crate) port: u16,
    settings: &'static [&'static str],
}

impl PrivateServer {
    /// Starts a server with these files in its data folder, and these settings.
    ///
    /// Returns `None`, and says so, if there are no programs of PostgreSQL.
    pub(crate) fn start(files: &[(&str, String)], settings: &'static [&'static str]) -> Option<Self> {
        let programs = std::env::var_os("PG_BIN").map(PathBuf::from).or_else(|| {
            let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
            versions.filter_map(|version| Some(version.ok()?.path().join("bin"))).max()
        });
        let Some(programs) = programs.filter(|programs| programs.join("initdb").is_file()) else {
            skip("tests that start a server need the programs of PostgreSQL. Set PG_BIN to their folder");
            return None;
        };
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = std::env::temp_dir().join(format!("superstep-server-{}-{port}", std::process::id()));
        let server = Self { programs, folder, port, settings };
        fs::create_dir_all(&server.folder).unwrap();
        server.give_to_the_server(&server.folder);
        let mut made = server.command("initdb");
        made.arg("-D").arg(server.data()).args(["-U", "postgres", "-A", "trust", "--no-sync"]);
        assert!(made.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
        for (name, contents) in files {
            let file = server.data().join(name);
            fs::write(&file, contents).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            server.give_to_the_server(&file);
        }
        server.run();
        Some(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn give_to_the_server(&self, path: &Path) {
        if is_root() {
            assert!(Command::new("chown").arg("postgres").arg(path).status().unwrap().success());
        }
    }

    /// Returns a program as an unprivileged user: the server refuses root.
    fn command(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        if !is_root() {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
        command
    }

    /// Starts the server, and waits until it accepts connections. The processes of a killed server may still be ending.
    pub(crate) fn run(&self) {
        let mut options =
            format!("-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''", self.port);
        for setting in self.settings {
            options.push_str(" -c ");
            options.push_str(setting);
        }
        for _ in 0..50 {
            let mut start = self.command("pg_ctl");
            start.arg("-D").arg(self.data()).arg("-l").arg(self.folder.join("log"));
            start
                .args(["-w", "-t", "30", "-o", &options, "start"])
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            if start.status().unwrap().success() {
                return;
            }
        }
        panic!(
            "the server does not start: {}",
            fs::read_to_string(self.folder.join("log")).unwrap_or_default()
        );
    }

    /// Kills the server with SIGKILL. Its other processes end when they notice.
    pub(crate) fn kill(&self) {
        let file = self.folder.join("data/postmaster.pid");
        let pid = fs::read_to_string(&file).unwrap().lines().next().unwrap().to_owned();
        assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
        while Path::new("/proc").join(&pid).exists() && !is_zombie(&pid) {
            std::thread::yield_now();
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        let mut stop = self.command("pg_ctl");
        stop.arg("-D").arg(self.data()).args(["-m", "immediate", "-w", "stop"]);
        let _ = stop.stdout(Stdio::null()).stderr(Stdio::null()).status();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

fn is_zombie(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.rsplit(") ").next().is_some_and(|state| state.starts_with('Z'))
}
