use std::fmt::Display;

use quote::ToTokens;

/// All mistakes of one input.
#[derive(Default)]
pub(crate) struct Problems {
    errors: Vec<syn::Error>,
    by_rustc: bool,
}

impl Problems {
    /// Adds a mistake at `tokens`.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.errors.push(syn::Error::new_spanned(tokens, message));
    }

    /// Notes a mistake that rustc reports, so that it needs no error of the derive.
    pub(crate) fn known_to_rustc(&mut self) {
        self.by_rustc = true;
    }

    /// Returns `true` if rustc reports a mistake.
    pub(crate) fn are_known_to_rustc(&self) -> bool {
        self.by_rustc
    }

    /// Adds an error of a parser.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.errors.push(error);
    }

    /// Adds the error of a parser, or returns its value.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Returns `true` if there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Combines all mistakes into one error. Returns `None` if there are none.
    pub(crate) fn into_error(self) -> Option<syn::Error> {
        self.errors.into_iter().reduce(|mut all, next| {
            all.combine(next);
            all
        })
    }
}
