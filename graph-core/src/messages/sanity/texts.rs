use std::borrow::Cow;

/// What the messages say that [`repair`](super::repair) puts into a history; English if nothing else is said.
///
/// ```
/// use superstep::messages::sanity::Texts;
///
/// let texts = Texts::default()
///     .note("Auf die vorige Nachricht wurde nicht geantwortet.")
///     .placeholder("Abgebrochen, ehe ein Ergebnis da war.")
///     .closing("Ich wurde unterbrochen.");
/// assert_ne!(texts, Texts::default());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    pub(super) note: Cow<'static, str>,
    pub(super) placeholder: Cow<'static, str>,
    pub(super) closing: Cow<'static, str>,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            note: "The message before this was not answered: the reply was cut off.".into(),
            placeholder: "No result: this call was cut off. It may or may not have been carried out.".into(),
            closing: "I was cut off before I could use these results.".into(),
        }
    }
}

impl Texts {
    /// What the system note between two messages of a person says.
    pub fn note(self, text: impl Into<Cow<'static, str>>) -> Self {
        Self { note: text.into(), ..self }
    }

    /// What a call is answered with that no tool has answered.
    pub fn placeholder(self, text: impl Into<Cow<'static, str>>) -> Self {
        Self { placeholder: text.into(), ..self }
    }

    /// What the model says behind tool messages that a history ends on.
    pub fn closing(self, text: impl Into<Cow<'static, str>>) -> Self {
        Self { closing: text.into(), ..self }
    }
}
