use proc_macro2::TokenStream;
use quote::quote;

/// Returns the condition of code that only rustdoc and rust-analyzer read. Both show signatures as they are written.
///
/// Cargo does not know `rust_analyzer`: the code needs `#[allow(unexpected_cfgs)]` around it.
pub(crate) fn reader() -> TokenStream {
    quote!(any(doc, rust_analyzer))
}
