use std::fs::File;
use std::io::Read;
use std::path::{Component, Path};

use walkdir::{DirEntry, WalkDir};

use super::{Reason, Skipped};
use crate::Error;

/// The kinds of files that are documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinds {
    /// All text files by their names. Other files are listed as skipped.
    Text,
    /// Markdown files only. Other files are ignored.
    Markdown,
}

/// The maximum size of a document. Larger files are logs or dumps.
const MAX_BYTES: u64 = 8 << 20;
const MARKDOWN: [&str; 2] = ["markdown", "md"];
const TEXT: [&str; 7] = ["adoc", "mdx", "org", "rst", "text", "tex", "txt"];
const BUILD_FOLDERS: [&str; 2] = ["node_modules", "target"];

/// The files of a folder.
#[derive(Default)]
pub(super) struct Found {
    /// The paths inside the folder, sorted, with their contents.
    pub(super) texts: Vec<(String, String)>,
    pub(super) skipped: Vec<Skipped>,
}

/// Reads all documents in a folder.
pub(super) fn walk(root: &Path, kinds: Kinds) -> Result<Found, Error> {
    std::fs::metadata(root).map_err(|source| Error::NoSuchFolder { folder: root.to_owned(), source })?;
    let mut found = Found::default();
    // Sorted, since directory order differs between machines and answers must not.
    let walk = WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter();
    for entry in walk.filter_entry(is_wanted) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                found.skipped.push(unreadable(root, &error));
                continue;
            }
        };
        if entry.file_type().is_dir() {
            continue;
        }
        let file = relative_name(root, entry.path());
        let is_root = entry.depth() == 0;
        match kind_of(entry.path(), kinds) {
            Kind::Document => {}
            // A file on the command line is read whatever its name is.
            _ if is_root => {}
            Kind::Other => {
                found.skipped.push(Skipped { file, reason: Reason::Kind });
                continue;
            }
            Kind::Ignored => continue,
        }
        match read(entry.path()) {
            Ok(text) => found.texts.push((file, text)),
            Err(reason) => found.skipped.push(Skipped { file, reason }),
        }
    }
    Ok(found)
}

fn is_wanted(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    // The root may have any name, such as `.`.
    entry.depth() == 0
        || !(name.starts_with('.') || entry.file_type().is_dir() && BUILD_FOLDERS.contains(&name.as_ref()))
}

enum Kind {
    Document,
    Other,
    Ignored,
}

fn kind_of(path: &Path, kinds: Kinds) -> Kind {
    // Files such as README and LICENSE have no extension.
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let markdown = extension.as_ref().is_some_and(|extension| MARKDOWN.contains(&extension.as_str()));
    let text = extension.as_ref().is_none_or(|extension| TEXT.contains(&extension.as_str()));
    match kinds {
        Kinds::Text if markdown || text => Kind::Document,
        Kinds::Text => Kind::Other,
        Kinds::Markdown if markdown => Kind::Document,
        Kinds::Markdown => Kind::Ignored,
    }
}

fn read(path: &Path) -> Result<String, Reason> {
    let unreadable = |error: std::io::Error| Reason::Unreadable(error.to_string());
    // Checked before opening, since opening a pipe waits for a writer.
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(Reason::Unreadable("not a regular file".to_owned()));
    }
    let mut bytes = Vec::new();
    // The length in the metadata is not reliable: a file may grow, and files in /proc have length 0.
    File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Reason::TooLarge { limit: MAX_BYTES });
    }
    if bytes.contains(&0) {
        return Err(Reason::Binary);
    }
    let text = String::from_utf8(bytes).map_err(|_| Reason::Binary)?;
    if text.trim().is_empty() {
        return Err(Reason::Empty);
    }
    Ok(text)
}

fn unreadable(root: &Path, error: &walkdir::Error) -> Skipped {
    let reason = match (error.loop_ancestor(), error.io_error()) {
        (Some(ancestor), _) => format!("a link back to `{}`", ancestor.display()),
        (None, Some(error)) => error.to_string(),
        (None, None) => error.to_string(),
    };
    let file = error.path().map_or_else(|| root.display().to_string(), |path| relative_name(root, path));
    Skipped { file, reason: Reason::Unreadable(reason) }
}

/// Returns the path relative to the root, with `/` on all systems, as citations show it.
fn relative_name(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = below
        .components()
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    match (parts.is_empty(), path.file_name()) {
        (true, Some(name)) => name.to_string_lossy().into_owned(),
        (true, None) => path.display().to_string(),
        (false, _) => parts.join("/"),
    }
}
