//! Writes the seeds of all targets to `fuzz/corpus/`, where `cargo fuzz run` finds them.

use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    for target in tests::fuzz::TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
        fs::create_dir_all(&folder)?;
        for (number, bytes) in (target.seeds)().into_iter().enumerate() {
            fs::write(folder.join(format!("seed-{number}")), bytes)?;
        }
    }
    Ok(())
}
