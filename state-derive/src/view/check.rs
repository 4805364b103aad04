use crate::attr::Problems;

use super::model::{Held, View};

pub(crate) fn check(view: &View, problems: &mut Problems) {
    if view.of.is_none() {
        problems.at(&view.name, "say which state this is a view of: `#[view(of = State)]`");
    }
    for second in view.generics.lifetimes().skip(1) {
        problems.at(second, "a view borrows for one lifetime, that of the state it is given");
    }
    for field in &view.fields {
        if matches!(field.held, Held::Unknown) {
            problems.at(
                &field.ty,
                "a field of a view borrows as `&'a T` or `Option<&'a T>`, or has a type without lifetime and is cloned",
            );
        }
    }
}
