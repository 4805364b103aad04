//! The tools of the agent.

use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::{ContextWith, Result, bail};
use superstep_agent::tool;

/// The folder that the agent may access.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// Returns the path of a file. Refuses paths that may lead outside the folder.
    fn file(&self, name: &str) -> Result<PathBuf> {
        let inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside || name.is_empty() {
            bail!("`{name}` is not a file in the folder");
        }
        Ok(self.0.join(name))
    }
}

/// An operation on two numbers.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Operation {
    Plus,
    Minus,
    Times,
    Over,
}

/// Calculates with two numbers.
#[tool]
pub(crate) async fn calculate(left: f64, operation: Operation, right: f64) -> Result<f64> {
    let result = match operation {
        Operation::Plus => left + right,
        Operation::Minus => left - right,
        Operation::Times => left * right,
        Operation::Over => left / right,
    };
    if !result.is_finite() {
        bail!("the result is not a finite number");
    }
    Ok(result)
}

/// Returns the current time in UTC.
#[tool]
pub(crate) async fn clock() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// Looks for files whose name or text contains a word.
#[tool]
pub(crate) async fn search_files(
    /// The word; case does not matter.
    word: String,
    folder: &ContextWith<Folder>,
) -> Result<String> {
    let word = word.to_lowercase();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&folder.context().0)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Binary files are found by their names only.
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        if name.to_lowercase().contains(&word) || text.to_lowercase().contains(&word) {
            found.push(name);
        }
    }
    found.sort();
    Ok(if found.is_empty() { "no file".to_owned() } else { found.join(", ") })
}

/// The question whether a file may be deleted, in the form in which agent-chat-ui offers buttons.
#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Delete {
    pub(crate) action_request: Action,
    config: Buttons,
    description: String,
}

#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Action {
    action: String,
    pub(crate) args: Arguments,
}

#[derive(Serialize, Deserialize, Debug)]
pub(crate) struct Arguments {
    pub(crate) file: String,
}

#[derive(Serialize, Deserialize, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the interface names a flag for each button")]
struct Buttons {
    allow_accept: bool,
    allow_edit: bool,
    allow_respond: bool,
    allow_ignore: bool,
}

/// A button that the user pressed.
#[derive(Serialize, Deserialize, Debug)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum Decision {
    Accept,
    Ignore,
}

impl Question for Delete {
    type Answer = Vec<Decision>;
}

impl Delete {
    fn of(file: &str) -> Self {
        Self {
            action_request: Action {
                action: "delete_file".to_owned(),
                args: Arguments { file: file.to_owned() },
            },
            config: Buttons {
                allow_accept: true,
                allow_edit: false,
                allow_respond: false,
                allow_ignore: true,
            },
            description: "A deleted file cannot be restored.".to_owned(),
        }
    }
}

/// Deletes a file. The user is asked first.
#[tool]
pub(crate) async fn delete_file(
    /// The file's name.
    file: String,
    folder: &ContextWith<Folder>,
) -> Result<String> {
    let path = folder.context().file(&file)?;
    if !path.is_file() {
        bail!("there is no file `{file}`");
    }
    let decisions = folder.interrupt(Delete::of(&file)).await;
    if !matches!(decisions[..], [Decision::Accept]) {
        bail!("the user does not allow the deletion of `{file}`");
    }
    std::fs::remove_file(path)?;
    Ok(format!("deleted `{file}`"))
}
