use serde_json::{Map, Value, json};

use super::explore::{Explorer, MOST_PARTS, UNKNOWN, then};
use super::hint::{Hint, Tag, Turn};
use super::probe::Sample;
use super::stop::{Reason, Stop};

impl Explorer {
    /// Returns the schema of an adjacently tagged enum, or `None` for other types.
    ///
    /// Such an enum deserializes as a struct of two fields. Without the tag, it reads its content as any value. With the
    /// tag, it reads the content as the type of the variant.
    pub(super) fn adjacent(&self, path: &[Turn], fields: &'static [&'static str]) -> Option<Value> {
        let [first, second] = fields else { return None };
        let is_strict = self.replies(path, Sample::Keys(&[UNKNOWN]), Reason::UnknownField);
        [(*first, *second), (*second, *first)]
            .into_iter()
            .find_map(|(tag, content)| self.tagged_by(path, tag, content, is_strict))
    }

    fn tagged_by(
        &self,
        path: &[Turn],
        key: &'static str,
        content: &'static str,
        is_strict: bool,
    ) -> Option<Value> {
        let tag = then(path, Turn::Field(key));
        let Some(Hint::Enum(variants)) = self.hint(&tag) else { return None };
        let is_unit =
            |variant: &'static str| self.hint(&then(&tag, Turn::Variant(variant))) == Some(Hint::UnitVariant);
        let is_any = |hint: Option<Hint>| matches!(hint, None | Some(Hint::Any));
        if variants.len() > MOST_PARTS
            || !variants.iter().all(|variant| is_unit(variant))
            || !is_any(self.hint(&then(path, Turn::Field(content))))
        {
            return None;
        }
        let inside = |variant| then(path, Turn::Content(Tag { key, variant }, content));
        if variants.iter().all(|variant| is_any(self.hint(&inside(variant)))) {
            return None;
        }
        let alternatives = variants.iter().map(|variant| {
            let mut properties = Map::new();
            properties.insert(key.to_owned(), json!({"const": variant}));
            properties.insert(content.to_owned(), self.part(&inside(variant)));
            let alone = self.reply(path, Sample::Tag(Tag { key, variant }));
            let needs_content = matches!(
                alone,
                Some(Err(Stop { reason: Reason::MissingField(field), .. })) if field == content
            );
            let required = if needs_content { vec![key, content] } else { vec![key] };
            let mut schema = json!({"type": "object", "properties": properties, "required": required});
            if is_strict && let Some(keywords) = schema.as_object_mut() {
                keywords.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            schema
        });
        Some(json!({"anyOf": alternatives.collect::<Vec<_>>()}))
    }
}
