use std::borrow::Cow;

/// The wording of the messages that [`repair`](super::repair) adds. The default is English.
///
/// ```
/// use superstep::messages::sanity::RepairTexts;
///
/// let wording = RepairTexts::default()
///     .note("Auf die vorige Nachricht wurde nicht geantwortet.")
///     .placeholder("Abgebrochen, ehe ein Ergebnis da war.")
///     .closing("Ich wurde unterbrochen.");
/// assert_ne!(wording, RepairTexts::default());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairTexts {
    pub(super) note: Cow<'static, str>,
    pub(super) placeholder: Cow<'static, str>,
    pub(super) closing: Cow<'static, str>,
}

impl Default for RepairTexts {
    fn default() -> Self {
        Self {
            note: "The message before this was not answered: the reply was cut off.".into(),
            placeholder: "No result: this call was cut off. It may or may not have been carried out.".into(),
            closing: "I was cut off before I could use these results.".into(),
        }
    }
}

impl RepairTexts {
    /// Sets the system note between two messages from a person.
    pub fn note(self, text: impl Into<Cow<'static, str>>) -> Self {
        Self { note: text.into(), ..self }
    }

    /// Sets the answer to an unanswered call.
    pub fn placeholder(self, text: impl Into<Cow<'static, str>>) -> Self {
        Self { placeholder: text.into(), ..self }
    }

    /// Sets the closing message of the model, after tool messages at the end of a history.
    pub fn closing(self, text: impl Into<Cow<'static, str>>) -> Self {
        Self { closing: text.into(), ..self }
    }
}
