//! The arguments of setters. A trait for each reducer says what its setter takes, and rustc prints nothing of the others.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use serde_json::{Map, Value};

use crate::reducers::{Reducer, Replace};

use super::change::Overwrite;
use super::{Change, IntoChange};

/// The items of a collection, as the setters of its reducers take them.
pub trait Items {
    /// An item of a list, or an entry of a map.
    type Item;
}

macro_rules! items {
    ($([$($generics:tt)*] $collection:ty: $item:ty;)*) => {$(
        impl<$($generics)*> Items for $collection {
            type Item = $item;
        }
    )*};
}

items! {
    [T] Vec<T>: T;
    [T] VecDeque<T>: T;
    [T] BTreeSet<T>: T;
    [T, H] HashSet<T, H>: T;
    [K, V] BTreeMap<K, V>: (K, V);
    [K, V, H] HashMap<K, V, H>: (K, V);
    [] Map<String, Value>: (String, Value);
    [] String: char;
    [C: Items] Option<C>: C::Item;
}

/// An argument of a setter without a reducer.
#[diagnostic::on_unimplemented(message = "this field takes `{T}`, not `{Self}`", label = "expected `{T}`")]
pub trait ReplaceArgument<T> {
    /// Converts this value into a write.
    fn into_change(self) -> Change<Replace, T>
    where
        T: Clone + Send + Sync + 'static;
}

#[diagnostic::do_not_recommend]
impl<V: IntoChange<Replace, T>, T> ReplaceArgument<T> for V {
    fn into_change(self) -> Change<Replace, T>
    where
        T: Clone + Send + Sync + 'static,
    {
        IntoChange::into_change(self)
    }
}

/// Defines the arguments of the setters of a reducer. `Takes` is a type for its message.
macro_rules! arguments {
    ($($name:ident: $message:literal, $label:literal, $note:literal;)*) => {$(
        #[doc = concat!("An argument of a setter: ", $note, ".")]
        #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
        pub trait $name<Takes, R: Reducer<T>, T: Clone>: IntoChange<R, T> {}

        #[diagnostic::do_not_recommend]
        impl<V: IntoChange<R, T>, Takes, R: Reducer<T>, T: Clone> $name<Takes, R, T> for V {}
    )*};
}

arguments! {
    AppendItems: "`append` takes an iterator of `{Takes}`, not `{Self}`", "expected an iterator of `{Takes}`",
        "write `[item]` to append one item; `Overwrite(list)` replaces the field";
    AppendStrings: "`append` takes an iterator of `String`, not `{Self}`", "expected an iterator of `String`",
        "write `[\"x\".to_owned()]` to append one string; `Overwrite(list)` replaces the field";
    AppendText: "`append` takes text for a `String`, not `{Self}`", "expected `&str`, `String` or `char`",
        "the text is added at the end; `Overwrite(text)` replaces the field";
    UnionItems: "`union` takes an iterator of `{Takes}`, not `{Self}`", "expected an iterator of `{Takes}`",
        "write `[item]` to add one item; `Overwrite(items)` replaces the field";
    UnionStrings: "`union` takes an iterator of `String`, not `{Self}`", "expected an iterator of `String`",
        "write `[\"x\".to_owned()]` to add one string; `Overwrite(items)` replaces the field";
    MergeEntries: "`merge` takes an iterator of `{Takes}`, not `{Self}`", "expected an iterator of `{Takes}`",
        "write `[(key, value)]` to insert one entry; `Overwrite(map)` replaces the field";
    AddSummand: "`add` takes `{Takes}`, not `{Self}`", "expected `{Takes}`",
        "the value is added to the field; `Overwrite(value)` replaces the field";
    MinValue: "`min` takes `{Takes}`, not `{Self}`", "expected `{Takes}`",
        "the smaller value stays in the field; `Overwrite(value)` replaces the field";
    MaxValue: "`max` takes `{Takes}`, not `{Self}`", "expected `{Takes}`",
        "the greater value stays in the field; `Overwrite(value)` replaces the field";
    AnyValueArgument: "`any_value` takes `{Takes}`, not `{Self}`", "expected `{Takes}`",
        "the last value stays in the field";
    AddedMessages: "`add_messages` takes messages, not `{Self}`", "expected a message or a list of messages",
        "write a message, a string, `(Role::Human, text)` or `Remove::all()`, or a list of one of these, `[Message::human(text)]`; \
         `Overwrite(list)` replaces the field";
}

/// An argument of the setter of a field with a user's reducer: exactly its update `U`, or [`Overwrite`].
///
/// `M` tells the two apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "the reducer of this field takes `{U}`, not `{Self}`",
    label = "expected `{U}`",
    note = "a reducer of your own takes exactly its update type; `Overwrite(value)` replaces the field"
)]
pub trait ReducerArgument<U, T: Clone, M> {
    /// Converts this value into a write.
    fn into_change<R: Reducer<T, Update = U>>(self) -> Change<R, T>;
}

/// Marks a reducer's own update.
#[derive(Debug)]
pub enum ByUpdate {}
/// Marks an [`Overwrite`].
#[derive(Debug)]
pub enum ByOverwrite {}

#[diagnostic::do_not_recommend]
impl<U, T: Clone> ReducerArgument<U, T, ByUpdate> for U {
    fn into_change<R: Reducer<T, Update = U>>(self) -> Change<R, T> {
        Change::Update(self)
    }
}

#[diagnostic::do_not_recommend]
impl<U, T: Clone> ReducerArgument<U, T, ByOverwrite> for Overwrite<T> {
    fn into_change<R: Reducer<T, Update = U>>(self) -> Change<R, T> {
        Change::Overwrite(self.0)
    }
}
