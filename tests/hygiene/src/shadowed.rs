//! Shadows names of the prelude, of primitive types and of generated locals.

pub struct Some;
pub struct None;
pub struct Ok;
pub struct Err;
pub struct Result;
pub struct Option;
pub struct String;
pub struct Vec;
pub struct Box;
pub struct Default;
pub struct Clone;
pub struct Iterator;
pub struct IntoIterator;
pub struct Sized;
pub struct Send;
pub struct usize;
pub struct bool;
pub struct str;
pub mod core {}
pub mod std {}
pub mod superstep {}
pub mod serde {}
pub mod serde_json {}

#[expect(
    non_upper_case_globals,
    reason = "a constant of this name would turn generated bindings into patterns"
)]
pub mod constants {
    pub const state: () = ();
    pub const value: () = ();
}
use self::constants::{state, value};

pub const USED: ((), ()) = (state, value);

#[derive(::renamed::GraphState)]
#[state(crate = ::renamed)]
pub struct Shadowed {
    /// A required input.
    #[state(input, validate(length(min = 1)))]
    pub text: ::std::string::String,
    /// Folded.
    #[state(reducer = append, output)]
    pub list: ::std::vec::Vec<u8>,
    /// Optional.
    #[state(reducer = max)]
    pub maybe: ::std::option::Option<u8>,
    /// Not dumped.
    #[state(exclude, ephemeral)]
    pub number: u64,
}

impl ::std::clone::Clone for Shadowed {
    fn clone(&self) -> Self {
        Self { text: self.text.clone(), list: self.list.clone(), maybe: self.maybe, number: self.number }
    }
}
