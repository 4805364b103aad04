//! Pictures of graphs.

mod drawn;
mod from_shape;
#[expect(clippy::module_inception, reason = "a type lives in the file of its name")]
mod picture;

pub use drawn::Drawn;
pub(crate) use drawn::named;
pub use picture::Picture;
