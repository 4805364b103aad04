//! Graphs written as text: the macro [`graph!`](crate::graph!), and what rustc checks of its text.

mod check;
mod known;
mod message;
mod together;
mod ways;

pub use check::{
    before_function, by_edges, by_function, by_route, function_leads_to, leads_to, leads_to_unleft,
};
pub use known::{Decided, Known, Returned, decided, known};
pub use together::{Writer, together};
pub use ways::{KnownResult, KnownWays, WaysOut};

#[doc = include_str!("../../../docs/graph.md")]
#[macro_export]
macro_rules! graph {
    ($($text:tt)*) => {
        $crate::__private::graph! { $crate; $($text)* }
    };
}
