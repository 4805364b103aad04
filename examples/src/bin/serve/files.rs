//! The files that the agent may read and delete.

use std::io;
use std::path::PathBuf;

/// Creates a sample folder.
pub(crate) fn sample() -> io::Result<PathBuf> {
    let folder = std::env::temp_dir().join("superstep-serve-example");
    std::fs::create_dir_all(&folder)?;
    for (name, text) in [
        ("checkpoints.txt", "A thread can be resumed from a checkpoint.\n"),
        ("shopping.txt", "bread, milk\n"),
        ("old.txt", "This file is obsolete.\n"),
    ] {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(folder)
}
