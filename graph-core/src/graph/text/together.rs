//! Checks of nodes that always run in one superstep. Constants call them, so a panic is an error of rustc.

#![expect(clippy::panic, reason = "a panic of a constant is an error of the compiler")]

use crate::node::Shape;
use crate::state::{WriteKind, WrittenField, WrittenFields};

use super::known::{Known, OutOf, Returned};
use super::message::Message;
use super::ways::KnownResult;

/// A node in the text, with the fields that it can write.
#[derive(Clone, Copy, Debug)]
pub struct Writer {
    name: &'static str,
    writes: WrittenFields,
}

impl Writer {
    /// A node whose fields are unknown to a constant.
    pub const UNKNOWN: Self = Self { name: "", writes: WrittenFields::UNKNOWN };

    /// A node.
    pub const fn of<N, M>(_: &Known<N, M>, name: &'static str) -> Self
    where
        N: Shape<M, Signature: Returned>,
        OutOf<N, M>: KnownResult,
    {
        Self { name, writes: OutOf::<N, M>::WRITES }
    }
}

/// Checks the nth of some nodes that always run together against those before it. The nodes in `beside` may run in the
/// same superstep.
#[track_caller]
pub const fn together(writers: &[Writer], nth: usize, beside: &[Writer]) {
    let (before, after) = writers.split_at(nth);
    let [second, after @ ..] = after else { return };
    let mut rest = before;
    while let [first, others @ ..] = rest {
        if let Some(field) = conflict(&first.writes, &second.writes) {
            let is_overwrite = matches!(field.kind, WriteKind::Overwrite);
            // An overwrite of a third node would cancel both writes. The first writer has no overwrite of the field.
            if is_overwrite
                || !(cancel(before, field.name) || cancel(after, field.name) || cancel(beside, field.name))
            {
                refuse(first.name, second.name, field.name, is_overwrite);
            }
        }
        rest = others;
    }
}

/// Returns a field that both always write, and that only one may write.
const fn conflict(one: &WrittenFields, other: &WrittenFields) -> Option<WrittenField> {
    let mut nth = 0;
    while let Some(field) = one.nth(nth) {
        let mut against = 0;
        while let Some(written) = other.nth(against) {
            if field.conflicts_with(&written) {
                return Some(field);
            }
            against += 1;
        }
        nth += 1;
    }
    None
}

/// Returns `true` if one of these nodes may overwrite the field.
const fn cancel(mut writers: &[Writer], field: &str) -> bool {
    while let [writer, others @ ..] = writers {
        if !writer.writes.are_known() {
            return true;
        }
        let mut nth = 0;
        while let Some(written) = writer.writes.nth(nth) {
            if written.may_cancel(field) {
                return true;
            }
            nth += 1;
        }
        writers = others;
    }
    false
}

#[track_caller]
const fn refuse(first: &str, second: &str, field: &str, is_overwrite: bool) -> ! {
    let (what, cure) = if is_overwrite {
        ("overwrite", "let one of them write without `Overwrite`")
    } else {
        ("write", "give the field a reducer with `#[state(reducer = ..)]`")
    };
    let message = Message::new()
        .text("`")
        .text(first)
        .text("` and `")
        .text(second)
        .text("` always run in the same superstep, and both ")
        .text(what)
        .text(" the field `")
        .text(field)
        .text("`: ")
        .text(cure)
        .text(", run one after the other with `")
        .text(first)
        .text(" -> ")
        .text(second)
        .text("`, or write `defer ")
        .text(second)
        .text(";`");
    panic!("{}", message.as_str());
}
