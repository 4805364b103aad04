//! The compiler messages of common mistakes, one file for each.
//!
//! `TRYBUILD=overwrite cargo test -p mistakes` updates the messages. Review each change as a user would read it.

#[test]
fn compile_errors_match_the_reviewed_messages() {
    trybuild::TestCases::new().compile_fail("tests/ui/*/*.rs");
}
