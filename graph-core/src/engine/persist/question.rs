use crate::interrupt::OpenQuestion;

/// A question as its record holds it; the record's key is its id.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct StoredQuestion {
    pub(crate) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    pub(crate) question: serde_json::Value,
}

impl StoredQuestion {
    pub(super) fn of(open: &OpenQuestion) -> Self {
        let OpenQuestion { name, key, question, .. } = open.clone();
        Self { name, key, question }
    }

    /// The question as it is shown.
    pub(crate) fn open(self, id: String, node: &str, task: usize) -> OpenQuestion {
        let Self { name, key, question } = self;
        OpenQuestion { id, node: node.to_owned(), task, name, key, question }
    }
}
