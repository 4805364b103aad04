use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::Type;

use super::ends;

/// Returns a local variable with the span of `ty`. Definition and use need the same span, or `macro_rules!` hygiene
/// separates them.
pub(crate) fn local(index: usize, ty: &Type) -> Ident {
    let (first, _) = ends(ty);
    format_ident!("__field_{index}", span = first)
}

/// Returns `local.0` with the spans of `ty`: there rustc reports a value of another type. The tuple makes this possible.
pub(crate) fn tuple_field(local: &Ident, ty: &Type) -> TokenStream {
    let (first, last) = ends(ty);
    let mut index = Literal::usize_unsuffixed(0);
    index.set_span(last);
    quote_spanned!(first=> #local.#index)
}
