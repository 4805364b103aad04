use std::collections::BTreeMap;

use syn::ext::IdentExt;

use crate::attr::Problems;

use super::model::Update;

pub(crate) fn check(update: &Update, problems: &mut Problems) {
    if update.of.is_none() {
        problems.at(&update.name, "missing state: write `#[update(of = State)]`");
    }
    let mut seen = BTreeMap::new();
    for field in &update.fields {
        let to = field.to.unraw().to_string();
        match seen.get(&to) {
            Some(other) => problems.at(
                &field.name,
                format!(
                    "`{other}` already writes the field `{to}` of the state: an update writes a field once"
                ),
            ),
            None => drop(seen.insert(to, field.name.unraw())),
        }
    }
}
