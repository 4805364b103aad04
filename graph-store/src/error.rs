//! The part that the errors of all stores have in common.

/// Defines the error of a store: its own variants, and those of every store.
///
/// Every error has:
/// - [`Corrupt`], which holds a type that names the unreadable data,
/// - `NewerFormat`, `Unavailable` and `Backend`, for the storage below the store,
/// - a constructor for each of them, and `is_transient`.
///
/// A limit that a call exceeds is a variant `NotStorable` of the error, because its place differs.
///
/// [`Corrupt`]: crate::checkpoint::CheckpointError::Corrupt
macro_rules! store_error {
    (
        $(#[$attribute:meta])*
        pub enum $error:ident {
            noun: $noun:literal,
            corrupt: $corrupt:ident,
            $($own:tt)*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, thiserror::Error)]
        #[non_exhaustive]
        pub enum $error {
            $($own)*

            /// Stored data cannot be read.
            #[error("{0}")]
            Corrupt(Box<$corrupt>),

            #[doc = concat!("A newer version of this library has written the ", $noun, ".")]
            #[error(
                "the {} has format {found}, but this program supports formats up to {known}: update the program",
                $noun
            )]
            #[non_exhaustive]
            NewerFormat {
                #[doc = concat!("The format of the ", $noun, ".")]
                found: u32,
                /// The newest supported format.
                known: u32,
            },

            #[doc = concat!("The storage below the ", $noun, " did not answer in time: it is locked, overloaded or unreachable.")]
            ///
            /// The same call may succeed later, without a change of the program or the storage.
            #[error("the {} could not {operation}", $noun)]
            #[non_exhaustive]
            Unavailable {
                /// The failed operation, as it follows on "could not".
                operation: &'static str,
                /// The cause.
                #[source]
                source: Box<dyn ::std::error::Error + Send + Sync>,
            },

            #[doc = concat!("The storage below the ", $noun, " failed: a disk, a database or a network.")]
            #[error("the {} could not {operation}", $noun)]
            #[non_exhaustive]
            Backend {
                /// The failed operation, as it follows on "could not".
                operation: &'static str,
                /// The cause.
                #[source]
                source: Box<dyn ::std::error::Error + Send + Sync>,
            },
        }

        impl $error {
            /// Creates a [`Corrupt`](Self::Corrupt) error.
            pub fn corrupt(corrupt: $corrupt) -> Self {
                Self::Corrupt(Box::new(corrupt))
            }

            #[doc = concat!("Creates a [`NewerFormat`](Self::NewerFormat) error from the format of the ", $noun, " and the newest supported format.")]
            pub const fn newer_format(found: u32, known: u32) -> Self {
                Self::NewerFormat { found, known }
            }

            #[doc = concat!("Creates an [`Unavailable`](Self::Unavailable) error. `operation` follows on \"the ", $noun, " could not\".")]
            pub fn unavailable(
                operation: &'static str,
                source: impl Into<Box<dyn ::std::error::Error + Send + Sync>>,
            ) -> Self {
                Self::Unavailable { operation, source: source.into() }
            }

            #[doc = concat!("Creates a [`Backend`](Self::Backend) error. `operation` follows on \"the ", $noun, " could not\".")]
            pub fn backend(
                operation: &'static str,
                source: impl Into<Box<dyn ::std::error::Error + Send + Sync>>,
            ) -> Self {
                Self::Backend { operation, source: source.into() }
            }

            /// Returns `true` if the same call may succeed later.
            pub const fn is_transient(&self) -> bool {
                matches!(self, Self::Unavailable { .. })
            }
        }

        impl From<$corrupt> for $error {
            fn from(corrupt: $corrupt) -> Self {
                Self::corrupt(corrupt)
            }
        }
    };
}

pub(crate) use store_error;
