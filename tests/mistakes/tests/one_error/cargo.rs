//! Checks programs with one call of cargo.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use serde_json::Value;

/// The flags of `trybuild`.
const FLAGS: &str = r#"["--cfg", "trybuild", "--verbose", "-A", "dead_code", "--diagnostic-width=140"]"#;

/// An error of rustc.
pub(crate) struct Found {
    /// The bytes of the program that rustc underlines.
    pub(crate) at: Range<usize>,
    /// The error as rustc shows it.
    pub(crate) rendered: String,
}

/// Returns the errors of each program.
pub(crate) fn check<'a>(programs: impl Iterator<Item = (&'a str, &'a str)>) -> BTreeMap<String, Vec<Found>> {
    let project = Path::new(env!("CARGO_TARGET_TMPDIR")).join("one_error");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let bins = project.join("src/bin");
    drop(fs::remove_dir_all(&bins));
    fs::create_dir_all(&bins).unwrap();
    fs::write(project.join("Cargo.toml"), manifest(&workspace)).unwrap();
    fs::copy(workspace.join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    for (name, text) in programs {
        fs::write(bins.join(format!("{name}.rs")), text).unwrap();
    }
    let output = check_command(&project).output().unwrap();
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let messages: Vec<Value> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
    let is_finished = messages.iter().any(|message| message["reason"] == "build-finished");
    assert!(is_finished, "cargo did not check the programs:\n{}", String::from_utf8_lossy(&output.stderr));
    let mut errors: BTreeMap<String, Vec<Found>> = BTreeMap::new();
    for message in messages {
        if let Some(found) = found(&message["message"]) {
            let program = message["target"]["name"].as_str().unwrap().to_owned();
            let is_dependency = !bins.join(format!("{program}.rs")).exists();
            assert!(!is_dependency, "a dependency does not compile:\n{}", found.rendered);
            errors.entry(program).or_default().push(found);
        }
    }
    errors
}

/// Checks as `trybuild` does for the cases in `ui`, in the same target folder and with the same dependencies: they are built
/// once for both.
fn check_command(project: &Path) -> Command {
    let target = env!("CARGO_TARGET_TMPDIR");
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(project)
        .env("CARGO_TARGET_DIR", Path::new(target).with_file_name("tests").join("trybuild"))
        .env("CARGO_INCREMENTAL", "0")
        .env_remove("RUSTFLAGS")
        .arg("--offline")
        .arg(format!("--config=build.rustflags={FLAGS}"))
        .args(["check", "--bins", "--keep-going", "--message-format=json", "--quiet", "--target"])
        .arg(target_tuple());
    command
}

/// The tuple of this machine. With `--target`, cargo gives the flags to the programs only, not to procedural macros.
fn target_tuple() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    output.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

/// Returns an error. The summary, which counts the errors, has no place.
fn found(message: &Value) -> Option<Found> {
    let mut spans = message["spans"].as_array()?.iter();
    let primary = spans.find(|span| span["is_primary"] == true);
    if message["level"] != "error" || primary.is_none() && message["code"].is_null() {
        return None;
    }
    let byte = |of: &str| primary.and_then(|span| span[of].as_u64()).map_or(0, |byte| byte as usize);
    let rendered = message["rendered"].as_str().unwrap_or_default().to_owned();
    Some(Found { at: byte("byte_start")..byte("byte_end"), rendered })
}

fn manifest(workspace: &Path) -> String {
    format!(
        "[package]
name = \"one-error\"
version = \"0.0.0\"
edition = \"2024\"
publish = false

[dependencies]
superstep = {{ path = {:?}, features = [\"schema\"] }}
superstep-agent = {{ path = {:?} }}
serde = {{ version = \"1\", features = [\"derive\"] }}
serde_json = \"1\"

[workspace]
",
        workspace.join("graph-core"),
        workspace.join("graph-agent"),
    )
}
