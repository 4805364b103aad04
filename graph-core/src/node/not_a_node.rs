//! Values that people write where a node is expected: a name, a called function, a function that is not async.
//!
//! A value without a shape has one message for all causes. So each of these has a shape, whose signature is [`NotANode`].
//! The places that need a node accept it under a bound that never holds, and the words of that bound say what to write.

use std::future::Future;
use std::marker::PhantomData;

use crate::step::{Named, NodeRef, Route};

use super::destination::Destination;
use super::shape::{Shape, SingleNode};

/// The signature, and the body, of a value that is not a node. `K` says what it is.
pub struct NotANode<K>(PhantomData<fn(K)>);

impl<K> NotANode<K> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

/// What a value is instead of a node. No type implements it: the bounds of its implementations never hold.
pub trait Instead {
    /// Never called, because nothing implements the trait.
    fn never<R>() -> R;
}

impl<K: Instead> SingleNode for NotANode<K> {
    fn node_ref(self) -> NodeRef {
        K::never()
    }
}

impl<K: Instead> Destination<NotANode<K>> for NotANode<K> {
    type Reads = ();

    fn node(_: NotANode<K>) -> NodeRef {
        K::never()
    }
}

/// Defines what values are instead of nodes, the words for it, and the shapes of the values.
macro_rules! instead {
    ($(
        $(#[doc = $doc:literal])+
        $kind:ident, $never:ident: $message:literal, $label:literal, [$($note:literal),+],
        $([$($generics:tt)*] $value:ty;)+
    )+) => {$(
        $(#[doc = $doc])+
        pub struct $kind<T>(std::marker::PhantomData<fn(T)>);

        #[doc = concat!("Never implemented. It produces rustc's message: ", $message, ".")]
        #[diagnostic::on_unimplemented(message = $message, label = $label, $(note = $note),+)]
        pub trait $never {
    /// Never called, because nothing implements the trait.
    fn never<R>() -> R;
}

        impl<T: $never> Instead for $kind<T> {
    fn never<R>() -> R {
        T::never()
    }
}

        $(
            #[diagnostic::do_not_recommend]
            impl<$($generics)*> Shape<$kind<$value>> for $value {
                type Signature = NotANode<$kind<$value>>;
                type Body = NotANode<$kind<$value>>;

                fn into_body(self) -> Self::Body {
                    NotANode::new()
                }
            }
        )+
    )+};
}

pub(crate) use instead;

instead! {
    /// The name of a node.
    Name, WriteTheFunction:
    "a name is not a node", "a name",
    ["write the function: `draft` instead of `\"draft\"`"],
    ['a] &'a str;
    [] String;

    /// A future, which the call of a node has returned.
    CalledFunction, DoNotCall:
    "a called function is not a node", "the result of a call",
    ["write `draft` instead of `draft(..)`: the graph calls the function"],
    [F: Future] F;

    /// A value of a route.
    RouteValue, ReturnTheRoute:
    "a value of a route is not a node", "a value of a route",
    ["the node before returns this value, and needs no edge: `async fn review(..) -> (TicketUpdate, Next)`"],
    [R: Route] R;

    /// A list of nodes.
    ListOfNodes, WriteATuple:
    "a list is not a node", "a list",
    ["write a tuple of nodes: `(draft, review)`"],
    [N, const COUNT: usize] [N; COUNT];
    [N] Vec<N>;
}

/// Marks a value with a name that is not a node.
pub struct IsNamedValue<M>(PhantomData<M>);

#[diagnostic::do_not_recommend]
impl<M, N, K> Shape<IsNamedValue<M>> for Named<N>
where
    N: Shape<M, Body = NotANode<K>>,
{
    type Signature = N::Signature;
    type Body = N::Body;

    fn into_body(self) -> N::Body {
        NotANode::new()
    }
}

/// A tuple of more nodes than a call takes.
pub struct TooManyNodes<T>(PhantomData<fn(T)>);

/// Never implemented. It produces rustc's message about the greatest tuple.
#[diagnostic::on_unimplemented(
    message = "a tuple has at most eight nodes",
    label = "more than eight nodes",
    note = "write several calls: `.edge(START, (a, b)).edge(START, (c, d))`"
)]
pub trait WriteSeveralCalls {
    /// Never called, because nothing implements the trait.
    fn never<R>() -> R;
}

impl<T: WriteSeveralCalls> Instead for TooManyNodes<T> {
    fn never<R>() -> R {
        T::never()
    }
}

macro_rules! too_many_nodes {
    ($(($($place:ident)+))*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($place),+> Shape<TooManyNodes<($($place,)+)>> for ($($place,)+) {
            type Signature = NotANode<TooManyNodes<($($place,)+)>>;
            type Body = NotANode<TooManyNodes<($($place,)+)>>;

            fn into_body(self) -> Self::Body {
                NotANode::new()
            }
        }
    )*};
}

too_many_nodes! {
    (A B C E F G H I J)
    (A B C E F G H I J K)
    (A B C E F G H I J K L)
    (A B C E F G H I J K L M)
}

/// A function with more parameters than a node has.
pub struct ManyParameters<T>(PhantomData<fn(T)>);

/// Never implemented. It produces rustc's message about the number of parameters.
#[diagnostic::on_unimplemented(
    message = "a node has at most four parameters",
    label = "more than four parameters",
    note = "what nodes need besides the state is one value: `&ContextWith<Office>`; a node reads the whole state, or a view of it"
)]
pub trait TakeFewerParameters {
    /// Never called, because nothing implements the trait.
    fn never<R>() -> R;
}

impl<T: TakeFewerParameters> Instead for ManyParameters<T> {
    fn never<R>() -> R {
        T::never()
    }
}

macro_rules! many_parameters {
    ($(($($param:ident)+))*) => {$(
        #[diagnostic::do_not_recommend]
        impl<Func, Fut, $($param),+> Shape<ManyParameters<fn($($param),+) -> Fut>> for Func
        where
            Func: Fn($($param),+) -> Fut,
            Fut: Future,
        {
            type Signature = NotANode<ManyParameters<Func>>;
            type Body = NotANode<ManyParameters<Func>>;

            fn into_body(self) -> Self::Body {
                NotANode::new()
            }
        }
    )*};
}

many_parameters! { (A B C E F) (A B C E F G) (A B C E F G H) (A B C E F G H I) }
