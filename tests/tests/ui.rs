//! What rustc says about each way to hold the library wrong, one file for each mistake.
//!
//! `TRYBUILD=overwrite cargo test -p tests --test ui` writes the messages anew; each is then read as a user would.

#[test]
fn every_mistake_is_an_error_at_its_token() {
    trybuild::TestCases::new().compile_fail("tests/ui/*/*.rs");
}
