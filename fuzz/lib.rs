//! Calls the fuzz targets by name.

use tests::fuzz::Target;

/// Runs a target with these bytes.
pub fn run(name: &str, bytes: &[u8]) {
    match Target::named(name) {
        Some(target) => (target.run)(bytes),
        None => panic!("`tests::fuzz` has no target `{name}`"),
    }
}
