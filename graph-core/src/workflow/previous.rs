//! The previous result as a parameter: `Option<&T>`, or `Option<&str>` for a `String`.

use std::marker::PhantomData;

use crate::erased::Payload;
use crate::node::{Extract, FixedParam, NoPacket, Param, Source};

use super::{Flow, WorkflowResult};

/// The lifetime-free name of `Option<&T>` as a parameter.
pub struct Previous<T>(PhantomData<fn() -> T>);

/// The role of the previous result as a parameter.
#[derive(Debug)]
pub enum IsPrevious {}

#[diagnostic::do_not_recommend]
impl<T: Sync + 'static> Param for Option<&T> {
    type Fixed = Previous<T>;
}

impl<T: Sync + 'static> FixedParam for Previous<T> {
    type Role = IsPrevious;
    type Packet = NoPacket;
    type At<'a> = Option<&'a T>;
}

impl<S: HasPrevious<T>, D, T: Sync + 'static> Extract<S, D> for Previous<T> {
    fn extract<'a>(from: Source<'a, S, D>) -> Option<Option<&'a T>> {
        Some(from.state.left_behind())
    }
}

/// The lifetime-free name of `Option<&str>` as a parameter.
#[derive(Debug)]
pub enum PreviousText {}

#[diagnostic::do_not_recommend]
impl Param for Option<&str> {
    type Fixed = PreviousText;
}

impl FixedParam for PreviousText {
    type Role = IsPrevious;
    type Packet = NoPacket;
    type At<'a> = Option<&'a str>;
}

impl<S: HasPrevious<String>, D> Extract<S, D> for PreviousText {
    fn extract<'a>(from: Source<'a, S, D>) -> Option<Option<&'a str>> {
        Some(from.state.left_behind().map(String::as_str))
    }
}

/// The state of a workflow whose previous result is a `T`.
#[diagnostic::on_unimplemented(
    message = "a function on `{Self}` cannot take `Option<&{T}>`",
    label = "`{T}` is not the previous result",
    note = "a workflow that returns `Result<T>` or `Result<Final<_, T>>` can take `Option<&T>`"
)]
pub trait HasPrevious<T> {
    #[doc(hidden)]
    fn left_behind(&self) -> Option<&T>;
}

#[diagnostic::do_not_recommend]
impl<I: Payload, R: WorkflowResult<Saved = T>, T> HasPrevious<T> for Flow<I, R> {
    fn left_behind(&self) -> Option<&T> {
        self.previous()
    }
}
