//! The previous result as a parameter: `Option<&T>`, and for a text `Option<&str>`.

use std::marker::PhantomData;

use crate::node::{Extract, FixedParam, NoPacket, Param, Payload, Source};

use super::{Flow, Returned};

/// The lifetime-free name of `Option<&T>` as a parameter.
pub struct Previous<T>(PhantomData<fn() -> T>);

/// Role of the previous result.
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

impl<S: LeavesBehind<T>, D, T: Sync + 'static> Extract<S, D> for Previous<T> {
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

impl<S: LeavesBehind<String>, D> Extract<S, D> for PreviousText {
    fn extract<'a>(from: Source<'a, S, D>) -> Option<Option<&'a str>> {
        Some(from.state.left_behind().map(String::as_str))
    }
}

/// A state that holds a previous result of type `T`: that of a workflow which returns such.
#[diagnostic::on_unimplemented(
    message = "a function on `{Self}` cannot take `Option<&{T}>`",
    label = "takes `Option<&{T}>`, which is not what it has returned before",
    note = "`Option<&T>` is the previous result of a workflow that returns `Result<T>` or `Result<Final<_, T>>`"
)]
pub trait LeavesBehind<T> {
    #[doc(hidden)]
    fn left_behind(&self) -> Option<&T>;
}

#[diagnostic::do_not_recommend]
impl<I: Payload, R: Returned<Saved = T>, T> LeavesBehind<T> for Flow<I, R> {
    fn left_behind(&self) -> Option<&T> {
        self.previous()
    }
}
