//! Setters that take one value.

/// Lets the setters of fields that `$reducer` folds take one value of the field's type.
macro_rules! takes_one {
    ($reducer:ident) => {
        #[diagnostic::do_not_recommend]
        impl<T: Clone> crate::state::IntoChange<$reducer, T> for T
        where
            $reducer: Reducer<T, Update = T>,
        {
            fn into_change(self) -> crate::state::Change<$reducer, T> {
                crate::state::Change::Update(self)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: Clone + Send + 'static>
            crate::state::IntoChange<crate::reducers::Optional<$reducer>, Option<T>> for T
        where
            $reducer: crate::reducers::Begin<T, Update = T>,
        {
            fn into_change(self) -> crate::state::Change<crate::reducers::Optional<$reducer>, Option<T>> {
                crate::state::Change::Update(Some(self))
            }
        }

        #[diagnostic::do_not_recommend]
        impl<T: Clone + Send + 'static>
            crate::state::IntoChange<crate::reducers::Optional<$reducer>, Option<T>> for Option<T>
        where
            $reducer: crate::reducers::Begin<T, Update = T>,
        {
            fn into_change(self) -> crate::state::Change<crate::reducers::Optional<$reducer>, Option<T>> {
                crate::state::Change::Update(self)
            }
        }
    };
}
pub(super) use takes_one;
