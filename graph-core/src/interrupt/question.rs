use serde_json::Value;

use crate::step::own_name;

use super::CheckpointValue;

/// The typed payload of an interrupt, and the type of its answer.
///
/// A node asks a question with [`Context::interrupt`](crate::Context::interrupt).
///
/// ```
/// use superstep::interrupt::Question;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize)]
/// struct Approve {
///     order: String,
///     price: u32,
/// }
///
/// impl Question for Approve {
///     type Answer = bool;
/// }
///
/// assert_eq!(Approve::name(), "Approve");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a question",
    label = "does not implement `Question`, so the type of its answer is unknown",
    note = "write `impl Question for {Self} {{ type Answer = bool; }}`, with the type of the answer"
)]
pub trait Question: CheckpointValue + Send + Sync + 'static {
    /// The type of the answer.
    type Answer: CheckpointValue + Send + Sync + 'static;

    /// Returns the name of the question. It is unique in its graph, and part of the question's id.
    ///
    /// The default is the name of the type. Implement this method if the type may be renamed while questions are open, because
    /// answers find their question by its id.
    fn name() -> &'static str {
        own_name::<Self>()
    }

    /// The version of the question and of its answer in their stored form.
    ///
    /// It is stored with each question. Raise it when the JSON of either changes in a way that serde's attributes
    /// (`default`, `alias`) cannot read, and implement [`migrate`](Self::migrate) or
    /// [`migrate_answer`](Self::migrate_answer).
    ///
    /// ```
    /// use superstep::interrupt::{MigratedJson, Question};
    /// use serde::{Deserialize, Serialize};
    /// use serde_json::{Value, json};
    ///
    /// /// Its price was in cents in version 0, and its answer was a `bool`.
    /// #[derive(Serialize, Deserialize)]
    /// struct Approve {
    ///     price: f64,
    /// }
    ///
    /// #[derive(Serialize, Deserialize)]
    /// enum Verdict {
    ///     Yes,
    ///     No { reason: String },
    /// }
    ///
    /// impl Question for Approve {
    ///     type Answer = Verdict;
    ///     const VERSION: u32 = 1;
    ///
    ///     fn migrate(_from: u32, mut question: Value) -> MigratedJson {
    ///         let cents = question["price"].as_f64().ok_or("the price is no number")?;
    ///         question["price"] = json!(cents / 100.0);
    ///         Ok(question)
    ///     }
    ///
    ///     fn migrate_answer(_from: u32, answer: Value) -> MigratedJson {
    ///         Ok(if answer == true { json!("Yes") } else { json!({"No": {"reason": ""}}) })
    ///     }
    /// }
    /// ```
    ///
    /// A program refuses questions and answers of a newer version than its own.
    const VERSION: u32 = 0;

    /// Converts the JSON of a question that an older version has asked. The default leaves it unchanged.
    ///
    /// # Errors
    /// The question cannot be converted. It then has to be asked again, by resuming its thread with `()`.
    fn migrate(from: u32, question: Value) -> MigratedJson {
        let _ = from;
        Ok(question)
    }

    /// Converts the JSON of an answer to a question that an older version has asked. The default leaves it unchanged.
    ///
    /// An answer is valid if the migrated question equals the question as it is asked now.
    ///
    /// # Errors
    /// The answer cannot be converted. The task that asked fails, and the answer stays stored.
    fn migrate_answer(from: u32, answer: Value) -> MigratedJson {
        let _ = from;
        Ok(answer)
    }

    /// Returns the JSON Schema (2020-12) of the answer, or `None` if every JSON value may be one.
    ///
    /// It is stored with an open question. An answer in JSON that does not fit is refused before anything is written.
    /// These keywords are checked, and all others are ignored:
    ///
    /// - `type`, `enum`, `const`, `allOf`, `anyOf`, `oneOf` (as `anyOf`), `$ref` inside the schema
    /// - `properties`, `required`, `additionalProperties`, `minProperties`, `maxProperties`
    /// - `items`, `prefixItems`, `minItems`, `maxItems`
    /// - `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `minLength`, `maxLength`
    ///
    /// A whole number (`integer`) is one without a decimal point and an exponent: integer types do not read `5.0` or `1e1`.
    ///
    /// The default is derived from the way in which the answer's type deserializes. serde reads some values in a second
    /// form, which the schema refuses: a list in place of a struct, and an object in place of a variant without data
    /// (`{"Yes": null}`). These parts cannot be derived and are unconstrained:
    ///
    /// - untagged enums
    /// - the fields of a struct with a flattened part
    /// - the contents of internally tagged enums, and the fields of struct variants of adjacently tagged enums
    /// - the rules of a `try_from`
    ///
    /// Implement this method for a schema that is narrower, or that has descriptions for a form.
    ///
    /// ```
    /// use superstep::interrupt::Question;
    /// use serde::{Deserialize, Serialize};
    /// use serde_json::json;
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Verdict {
    ///     approved: bool,
    ///     comment: Option<String>,
    /// }
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Approve;
    ///
    /// impl Question for Approve {
    ///     type Answer = Verdict;
    /// }
    ///
    /// let schema = json!({
    ///     "type": "object",
    ///     "properties": {"approved": {"type": "boolean"}, "comment": {"type": ["string", "null"]}},
    ///     "required": ["approved"],
    /// });
    /// assert_eq!(Approve::answer_schema(), Some(schema));
    /// ```
    fn answer_schema() -> Option<Value> {
        Self::Answer::__schema()
    }
}

/// The result of a migration of a question or an answer.
pub type MigratedJson = Result<Value, Box<dyn std::error::Error + Send + Sync>>;
