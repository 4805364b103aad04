use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use super::identity::{End, Named, NodeRef, Start};
use super::param::{Carries, FixedParam, NoPacket, Param, WithFailure};
use super::{PacketType, own_name};

/// A value that stands for a place in a graph: [`START`](crate::START), [`END`](crate::END), a node, or a tuple of
/// nodes.
///
/// This trait only recognises the *shape*: an async function with a number of parameters. The place of use checks that the
/// graph can provide the parameters and use the result, so that rustc's message is about these. `M` tells the impls apart
/// and is always inferred.
#[diagnostic::on_unimplemented(
    message = "this is not a node",
    label = "not an async function, nor a struct that implements `Node`",
    note = "a node is an `async fn` that takes `&State`, a view, a packet, `&Context` or `&ContextWith<_>`, or a closure `named(\"..\", async |..| ..)` that captures nothing: pass values through the context"
)]
pub trait Shape<M>: Sized {
    /// The parameters and the result of the node.
    type Signature;
    /// The form in which the graph keeps the value.
    type Body;

    /// Converts the value into the form that the graph keeps.
    fn into_body(self) -> Self::Body;
}

/// The parameters and the result of a node.
pub struct Signature<Args, Out>(PhantomData<fn(Args) -> Out>);

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

macro_rules! function_shapes {
    ($(($($param:ident),*))*) => {$(
        #[diagnostic::do_not_recommend]
        impl<F, Fut, $($param),*> Shape<fn($($param),*) -> Fut> for F
        where
            F: Fn($($param),*) -> Fut + 'static,
            Fut: Future,
        {
            type Signature = Signature<($($param,)*), Fut::Output>;
            type Body = Body<F>;

            fn into_body(self) -> Body<F> {
                Body::of(self)
            }
        }
    )*};
}

function_shapes! { () (A) (A, B) (A, B, C) (A, B, C, E) }

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
    (A MA, B MB)
    (A MA, B MB, C MC)
    (A MA, B MB, C MC, E ME)
    (A MA, B MB, C MC, E ME, F MF)
    (A MA, B MB, C MC, E ME, F MF, G MG)
    (A MA, B MB, C MC, E ME, F MF, G MG, H MH)
    (A MA, B MB, C MC, E ME, F MF, G MG, H MH, I MI)
}

/// Parameters, with the type of their packet.
pub trait ReadsPacket {
    /// [`NoPacket`] or [`Carries<T>`](Carries).
    type Packet: PacketKind;
}

/// [`NoPacket`] or [`Carries<T>`](Carries).
pub trait PacketKind {
    /// [`NoPacket`] or `T`.
    type Payload;

    /// Returns the packet's type, if there is a packet.
    fn packet_type() -> Option<PacketType>;
}

impl PacketKind for NoPacket {
    type Payload = Self;

    fn packet_type() -> Option<PacketType> {
        None
    }
}

impl<T: 'static> PacketKind for Carries<T> {
    type Payload = T;

    fn packet_type() -> Option<PacketType> {
        Some(PacketType::of::<T>())
    }
}

impl<P: PacketKind> PacketKind for WithFailure<P> {
    type Payload = P::Payload;

    fn packet_type() -> Option<PacketType> {
        P::packet_type()
    }
}

/// The packet of two parameter lists together. Two packets are an error.
#[diagnostic::on_unimplemented(
    message = "a node takes one packet, not two",
    label = "reads two packets",
    note = "put both into one payload"
)]
pub trait OrPacket<Other> {
    /// The packet of the two.
    type Out: PacketKind;
}

impl<Other: PacketKind> OrPacket<Other> for NoPacket {
    type Out = Other;
}

impl<T: 'static> OrPacket<NoPacket> for Carries<T> {
    type Out = Self;
}

#[diagnostic::do_not_recommend]
impl<T: 'static, P> OrPacket<WithFailure<P>> for Carries<T>
where
    Self: OrPacket<P>,
{
    type Out = WithFailure<<Self as OrPacket<P>>::Out>;
}

impl<P: OrPacket<Other>, Other> OrPacket<Other> for WithFailure<P> {
    type Out = WithFailure<P::Out>;
}

/// Parameters of a node, which has no failure to read. Only an error handler has one.
#[diagnostic::on_unimplemented(
    message = "a node cannot read a failure",
    label = "reads a `NodeFailure`, which only an error handler can read",
    note = "use it as the error handler of a node: `.on_error(node, handler)`"
)]
pub trait InNode {}

#[diagnostic::do_not_recommend]
impl InNode for NoPacket {}

#[diagnostic::do_not_recommend]
impl<T> InNode for Carries<T> {}

impl ReadsPacket for () {
    type Packet = NoPacket;
}

type PacketIn<P> = <<P as Param>::Fixed as FixedParam>::Packet;

impl<A: Param<Fixed: FixedParam<Packet: PacketKind>>> ReadsPacket for (A,) {
    type Packet = PacketIn<A>;
}

macro_rules! reads_packet {
    ($(($first:ident, $($rest:ident),+))*) => {$(
        impl<$first: Param, $($rest),+> ReadsPacket for ($first, $($rest,)+)
        where
            ($($rest,)+): ReadsPacket,
            PacketIn<$first>: OrPacket<<($($rest,)+) as ReadsPacket>::Packet>,
        {
            type Packet = <PacketIn<$first> as OrPacket<<($($rest,)+) as ReadsPacket>::Packet>>::Out;
        }
    )*};
}

reads_packet! { (A, B) (A, B, C) (A, B, C, E) }
