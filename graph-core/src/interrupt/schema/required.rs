use super::explore::{Explorer, LEVELS, MOST_PARTS};
use super::hint::Turn;
use super::probe::{Sample, struct_key};
use super::stop::{Reason, Stop};

impl Explorer {
    /// Returns the required fields of a struct, each with the names that may stand in its place.
    ///
    /// A derived visitor checks its fields in order. Each field that it reports as missing is given from then on.
    pub(super) fn required(
        &self,
        path: &[Turn],
        name: &'static str,
        fields: &'static [&'static str],
    ) -> Vec<(&'static str, Vec<&'static str>)> {
        let (mut given, mut required) = (Vec::new(), Vec::<(_, Vec<&str>)>::new());
        let key = struct_key(name, fields);
        let missing = |reply: Option<Result<(), Stop>>| match reply {
            Some(Err(Stop { reason: Reason::MissingField(field), of: Some(of) })) if of == key => Some(field),
            _ => None,
        };
        while let Some((field, variants)) = (0..LEVELS).find_map(|level| {
            let seen = self.run(path, Some(Sample::Keys(&given)), level)?;
            Some((missing(seen.reply)?, seen.variants))
        }) {
            if given.contains(&field) || variants > MOST_PARTS {
                break;
            }
            // The content of an adjacently tagged enum is required by some of its variants only: the field has to be
            // missing whatever the values of the given fields are.
            let always = (0..variants.max(LEVELS)).all(|level| {
                let Some(seen) = self.run(path, Some(Sample::Keys(&given)), level) else { return false };
                seen.reply != Some(Ok(())) && missing(seen.reply).is_none_or(|other| other == field)
            });
            if always {
                // Other names of the field take its place.
                let replace = |others: &[&'static str]| {
                    let keys = [given.as_slice(), others].concat();
                    (0..LEVELS).all(|level| {
                        let seen = self.run(path, Some(Sample::Keys(&keys)), level);
                        seen.is_none_or(|seen| missing(seen.reply) != Some(field))
                    })
                };
                let others = fields.iter().copied().filter(|other| *other != field && !given.contains(other));
                let mut others: Vec<&str> = others.collect();
                if others.is_empty() || !replace(&others) {
                    others.clear();
                }
                others.retain(|other| replace(&[other]));
                required.push((field, others));
            }
            given.push(field);
        }
        // An alias is never reported as missing itself.
        for (_, others) in &mut required {
            others.retain(|other| !given.contains(other));
        }
        required
    }
}
