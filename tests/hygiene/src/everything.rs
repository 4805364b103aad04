//! Derives every feature of a state without a prelude.

use ::std::clone::Clone;
use ::std::convert::From;
use ::std::fmt::Debug;
use ::std::option::Option;
use ::std::result::Result::{self, Ok};
use ::std::string::String;
use ::std::vec::Vec;

fn push(text: &mut String, letter: char) {
    text.push(letter);
}

fn check(_: &Everything) -> Result<(), &'static str> {
    Ok(())
}

fn migrate(_: u32, _: &mut ::renamed::state::Stored) -> Result<(), String> {
    Ok(())
}

fn dial(port: &u16) -> Option<u16> {
    Option::Some(*port)
}

#[derive(::renamed::GraphState, Clone, Debug)]
#[state(crate = ::renamed)]
pub struct Part {
    /// Lines.
    #[state(reducer = append)]
    pub lines: Vec<String>,
}

#[derive(::renamed::GraphState, Clone, Debug)]
#[state(crate = ::renamed, invariant = check, rename_all = "camelCase", version = 1, migrate = migrate)]
pub struct Everything {
    /// A required input.
    #[state(input, validate(length(min = 1), ascii, contains("x")))]
    pub question: String,
    /// Folded by a built-in reducer.
    #[state(input, reducer = append)]
    pub notes: Option<Vec<String>>,
    /// Folded by a function.
    #[state(reducer = push, takes = char)]
    pub letters: String,
    /// Not dumped.
    #[state(exclude, validate(range(max = 9)))]
    pub secret: u8,
    /// Rebuilt from the context.
    #[state(untracked, from_context = dial)]
    pub port: Option<u16>,
    /// Part of the output.
    #[state(output, serialize_with = display)]
    pub answer: Option<String>,
    /// Cleared after each superstep.
    #[state(ephemeral, default = 3)]
    pub flash: u8,
    /// A flattened state.
    #[state(flatten)]
    pub part: Part,
}

#[derive(::renamed::GraphState, Clone, Debug)]
#[state(crate = ::renamed)]
pub struct Generic<T>
where
    T: Clone + ::std::marker::Send + ::std::marker::Sync + ::std::default::Default + 'static,
{
    /// Of any type.
    #[state(untracked)]
    pub value: T,
    /// Summed.
    #[state(reducer = add, output)]
    pub count: u32,
}

pub fn used() -> EverythingInput {
    let update =
        Everything::update().question("x").letters('c').part(Part::update().lines([String::from("a")]));
    ::std::mem::drop(update);
    Everything::input("x").notes([String::from("n")])
}
