use std::marker::PhantomData;
use std::sync::Arc;

use crate::step::{End, Named, NodeRef, Start, own_name};

/// A value that stands for a place in a graph: [`START`](crate::START), [`END`](crate::END), a node, or a tuple of
/// nodes.
///
/// This trait only recognises the *shape*: an async function with a number of parameters. The place of use checks that the
/// graph can provide the parameters and use the result, so that rustc's message is about these. `M` tells the impls apart
/// and is always inferred.
#[diagnostic::on_unimplemented(
    message = "this is not a node",
    label = "not an async function, nor a struct that implements `Node`",
    note = "a node is an `async fn` with up to four parameters: `&State`, a view, a packet, `&Context` or `&ContextWith<_>`; or a closure `named(\"..\", async |..| ..)` that captures nothing: pass values through the context",
    note = "work that blocks belongs into `tokio::task::spawn_blocking`"
)]
pub trait Shape<M>: Sized {
    /// The parameters and the result of the node.
    type Signature;
    /// The form in which the graph keeps the value.
    type Body;

    /// Converts the value into the form that the graph keeps.
    fn into_body(self) -> Self::Body;
}

/// The identity of a node, and the function or struct that it runs.
pub struct Body<F> {
    pub(crate) node: NodeRef,
    pub(crate) run: Arc<F>,
}

impl<F: 'static> Body<F> {
    /// A node without an explicit name.
    pub(super) fn of(run: F) -> Self {
        Self { node: NodeRef::of_type::<F>(), run: Arc::new(run) }
    }
}

/// The body of one node: something that can have a policy, a breakpoint or another name.
#[diagnostic::on_unimplemented(
    message = "this is not a node of the graph",
    label = "expected one node",
    note = "START and END run nothing, and a tuple is several nodes: write one call for each node"
)]
pub trait SingleNode {
    /// Returns the identity of the node.
    #[doc(hidden)]
    fn node_ref(self) -> NodeRef;
}

#[diagnostic::do_not_recommend]
impl<F> SingleNode for Body<F> {
    fn node_ref(self) -> NodeRef {
        self.node
    }
}

/// The signature of [`START`](crate::START).
#[derive(Debug)]
pub enum StartSignature {}

/// The signature of [`END`](crate::END).
#[derive(Debug)]
pub enum EndSignature {}

/// The signature of a tuple of places.
pub struct Several<T>(PhantomData<fn(T)>);

#[diagnostic::do_not_recommend]
impl Shape<StartSignature> for Start {
    type Signature = StartSignature;
    type Body = Start;

    fn into_body(self) -> Start {
        self
    }
}

#[diagnostic::do_not_recommend]
impl Shape<EndSignature> for End {
    type Signature = EndSignature;
    type Body = End;

    fn into_body(self) -> End {
        self
    }
}

/// Marks the shape of a node with an explicit name.
pub struct IsNamed<M>(PhantomData<M>);

#[diagnostic::do_not_recommend]
impl<M, N> Shape<IsNamed<M>> for Named<N>
where
    N: Shape<M, Body = Body<N>>,
{
    type Signature = N::Signature;
    type Body = Body<N>;

    fn into_body(self) -> Body<N> {
        Body { node: NodeRef::Named(self.name), run: self.node }
    }
}

#[diagnostic::do_not_recommend]
impl<M, N> Shape<IsNamed<M>> for &Named<N>
where
    N: Shape<M, Body = Body<N>>,
{
    type Signature = N::Signature;
    type Body = Body<N>;

    fn into_body(self) -> Body<N> {
        self.clone().into_body()
    }
}

impl NodeRef {
    /// Returns the identity of a function or of a struct without fields.
    pub(crate) fn of_type<F: 'static>() -> Self {
        let name = own_name::<F>();
        if size_of::<F>() == 0 && !name.contains('{') {
            Self::Function { id: std::any::TypeId::of::<F>(), name }
        } else {
            Self::Nameless { name: std::any::type_name::<F>() }
        }
    }
}

macro_rules! tuple_shapes {
    ($(($($place:ident $marker:ident),+))*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($place, $marker),+> Shape<($($marker,)+)> for ($($place,)+)
        where
            $($place: Shape<$marker>),+
        {
            type Signature = Several<($($place::Signature,)+)>;
            type Body = ($($place::Body,)+);

            fn into_body(self) -> Self::Body {
                #[expect(non_snake_case, reason = "the macro names values like their types")]
                let ($($place,)+) = self;
                ($($place.into_body(),)+)
            }
        }
    )*};
}

tuple_shapes! {
    (A MA)
    (A MA, B MB)
    (A MA, B MB, C MC)
    (A MA, B MB, C MC, E ME)
    (A MA, B MB, C MC, E ME, F MF)
    (A MA, B MB, C MC, E ME, F MF, G MG)
    (A MA, B MB, C MC, E ME, F MF, G MG, H MH)
    (A MA, B MB, C MC, E ME, F MF, G MG, H MH, I MI)
}

/// A function that chooses the next nodes: it reads the state (or a view of it, `&Context`, `&ContextWith<_>`) and returns
/// a route, a `Vec` of routes, or a `Result` of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a route function",
    label = "not a function that reads the state and returns a route",
    note = "a route function is a plain `fn(&State) -> Route`; to await something, return the route from the node"
)]
pub trait Decide<M>: Sized {
    /// The function's parameters and result.
    type Signature;
}

/// A function that returns the cache key of a task. It may read the same parameters as the node.
///
/// This trait only recognises the shape. The place of use checks that the graph can provide the parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key function",
    label = "not a function that reads the state and returns a key",
    note = "a key function is a plain `fn(&State) -> Key`, or a closure `|state: &State| ..` whose parameters have their types"
)]
pub trait KeyBy<M>: Sized {
    /// The function's parameters and result.
    type Signature;
}
