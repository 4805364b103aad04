//! Stands for the rules whose feature is off, so that rustc says which one to turn on.

macro_rules! off {
    ($name:tt, $trait:ident, $message:tt, fn $rule:ident(_ $(, $pattern:ty)?)) => {
        #[cfg(not(feature = $name))]
        mod $rule {
            /// What no type is while the feature is off.
            #[diagnostic::on_unimplemented(message = $message, label = "this rule's feature is off")]
            pub trait $trait {}
        }

        /// Needs the feature of the same name.
        ///
        /// # Errors
        /// Never: it cannot be called.
        #[cfg(not(feature = $name))]
        pub fn $rule<T: $rule::$trait + ?Sized>(_: &T $(, _: &$pattern)?) -> Result<(), String> {
            Ok(())
        }
    };
}

off!("email", WithEmail, "the rule `email` needs the feature `email` of `graph-core`", fn email(_));
off!("url", WithUrl, "the rule `url` needs the feature `url` of `graph-core`", fn url(_));
off!(
    "pattern",
    WithPattern,
    "the rule `pattern` needs the feature `pattern` of `graph-core`",
    fn pattern(_, super::Pattern)
);
