use proc_macro2::TokenStream;

use super::context::Context;

pub(super) fn items(_cx: &Context<'_>) -> TokenStream {
    TokenStream::new()
}
