use crate::attr::Problems;

use super::model::{Ownership, View};

pub(crate) fn check(view: &View, problems: &mut Problems) {
    if view.of.is_none() {
        problems.at(&view.name, "missing state: write `#[view(of = State)]`");
    }
    for second in view.generics.lifetimes().skip(1) {
        problems.at(second, "a view can have only one lifetime parameter");
    }
    for field in &view.fields {
        if matches!(field.ownership, Ownership::Unknown) {
            problems.at(
                &field.ty,
                "a view can borrow only as `&'a T` or `Option<&'a T>`: use one of these, or an owned type to clone the field",
            );
        }
    }
}
