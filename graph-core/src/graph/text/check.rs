//! Checks of a graph's text against the results of its nodes. Constants call them, so a panic is an error of rustc.

#![expect(clippy::panic, reason = "a panic of a constant is an error of the compiler")]

use crate::node::Shape;
use crate::step::{IntoLeave, Targets};

use super::known::{Decided, Known, OutOf, Returned};
use super::message::Message;
use super::ways::{KnownResult, WaysOut};

/// Checks a node that edges leave.
#[track_caller]
pub const fn by_edges<N, M>(_: &Known<N, M>, name: &str)
where
    N: Shape<M, Signature: Returned>,
    OutOf<N, M>: KnownResult,
{
    if let WaysOut::ByRoute(targets) = OutOf::<N, M>::WAYS {
        let targets = match targets {
            Some(targets) => targets,
            None => Targets { nodes: &[".."], names: &[] },
        };
        let message = Message::new()
            .text("`")
            .text(name)
            .text("` returns a route, which decides where it leads: write `")
            .text(name)
            .text(" -> { ");
        let message = written(message, targets).text(" };` instead of edges");
        panic!("{}", message.as_str());
    }
}

/// Checks a node after which a function decides.
#[track_caller]
pub const fn before_function<N, M>(_: &Known<N, M>, name: &str)
where
    N: Shape<M, Signature: Returned>,
    OutOf<N, M>: KnownResult,
{
    if let WaysOut::ByRoute(_) = OutOf::<N, M>::WAYS {
        let message = Message::new().text("`").text(name);
        panic!("{}", message.text("` returns a route itself: remove `by ..`").as_str());
    }
}

/// Checks the targets that are written after a node. `with_values` is `true` if some of them are values, whose names
/// are not in the text.
#[track_caller]
pub const fn by_route<N, M>(_: &Known<N, M>, name: &str, written: &[&str], with_values: bool)
where
    N: Shape<M, Signature: Returned>,
    OutOf<N, M>: KnownResult,
{
    match OutOf::<N, M>::WAYS {
        WaysOut::ByEdges => {
            let message = Message::new()
                .text("`")
                .text(name)
                .text("` returns no route: write an edge, or name a function that decides, `")
                .text(name)
                .text(" -> { .. } by decide;`");
            panic!("{}", message.as_str());
        }
        WaysOut::ByRoute(Some(targets)) => complete(targets, name, written, with_values),
        WaysOut::ByRoute(None) => {}
    }
}

/// Checks a node whose targets a function chooses, and the targets.
#[track_caller]
pub const fn by_function<F, R: IntoLeave>(
    _: &Decided<F, R>,
    name: &str,
    written: &[&str],
    with_values: bool,
) {
    if let Some(targets) = R::TARGETS {
        complete(targets, name, written, with_values);
    }
}

/// Checks one of the targets that are written after a node.
#[track_caller]
pub const fn leads_to<N, M>(_: &Known<N, M>, name: &str, target: &str)
where
    N: Shape<M, Signature: Returned>,
    OutOf<N, M>: KnownResult,
{
    if let WaysOut::ByRoute(Some(targets)) = OutOf::<N, M>::WAYS {
        known_target(targets, name, target);
    }
}

/// Checks one of the targets that are written after a node, and that no way leaves.
#[track_caller]
pub const fn leads_to_unleft<N, M>(node: &Known<N, M>, name: &str, target: &str)
where
    N: Shape<M, Signature: Returned>,
    OutOf<N, M>: KnownResult,
{
    leads_to(node, name, target);
    let message = Message::new().text("no way leads on from `").text(target).text("`: write `").text(target);
    let message = message.text(" -> END;`, or the targets of its route, `").text(target).text(" -> { .. };`");
    panic!("{}", message.as_str());
}

/// Checks one of the targets that a function chooses.
#[track_caller]
pub const fn function_leads_to<F, R: IntoLeave>(_: &Decided<F, R>, name: &str, target: &str) {
    if let Some(targets) = R::TARGETS {
        known_target(targets, name, target);
    }
}

#[track_caller]
const fn complete(targets: Targets, name: &str, written: &[&str], with_values: bool) {
    if !all_known(targets, written) {
        // The message at that target has the targets of the route.
        return;
    }
    let missing = Message::new().text("the route of `").text(name).text("` also leads to `");
    let (missing, is_first) = missing_of(missing, targets.nodes, written, true);
    let (missing, is_first) =
        if with_values { (missing, is_first) } else { missing_of(missing, targets.names, written, is_first) };
    if !is_first {
        let message = missing.text("`: write `").text("{ ").names(written, true);
        let (message, _) = missing_of(message, targets.nodes, written, false);
        let (message, _) =
            if with_values { (message, true) } else { missing_of(message, targets.names, written, false) };
        panic!("{}", message.text(" }`").as_str());
    }
}

#[track_caller]
const fn known_target(targets: Targets, name: &str, target: &str) {
    if !is_target(targets, target) {
        let message = Message::new()
            .text("the route of `")
            .text(name)
            .text("` does not lead to `")
            .text(target)
            .text("`: it leads to `{ ");
        panic!("{}", self::written(message, targets).text(" }`").as_str());
    }
}

const fn all_known(targets: Targets, mut written: &[&str]) -> bool {
    while let [target, others @ ..] = written {
        if !is_target(targets, target) {
            return false;
        }
        written = others;
    }
    true
}

const fn is_target(targets: Targets, name: &str) -> bool {
    contains(targets.nodes, name) || contains(targets.names, name)
}

/// Appends the targets of a route as they are written in a graph.
const fn written(message: Message, targets: Targets) -> Message {
    message.names(targets.nodes, true).names(targets.names, targets.nodes.is_empty())
}

/// Appends the targets that are not written. Returns `true` if nothing was appended, now and before.
const fn missing_of(
    mut message: Message,
    mut targets: &[&str],
    written: &[&str],
    mut is_first: bool,
) -> (Message, bool) {
    while let [target, others @ ..] = targets {
        if !contains(written, target) {
            message = message.names(&[*target], is_first);
            is_first = false;
        }
        targets = others;
    }
    (message, is_first)
}

const fn contains(mut names: &[&str], name: &str) -> bool {
    while let [first, others @ ..] = names {
        if equal(first.as_bytes(), name.as_bytes()) {
            return true;
        }
        names = others;
    }
    false
}

const fn equal(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([a, rest_of_one @ ..], [b, rest_of_other @ ..]) = (one, other) {
        if *a != *b {
            return false;
        }
        (one, other) = (rest_of_one, rest_of_other);
    }
    one.is_empty() && other.is_empty()
}
