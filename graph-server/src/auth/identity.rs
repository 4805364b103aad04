use std::sync::Arc;

/// The caller of a request, as [`Server::authenticate`](crate::Server::authenticate) has recognized it.
///
/// An identity sees what belongs to it: the threads that requests with the same id have created, their runs, states and
/// events, its crons, and its own assistants. Anything else is not found. The id may stand for a person, or for a tenant whose
/// members share their threads.
///
/// In the long-term store, an identity may use the namespaces that begin with its id, and those that
/// [`namespace`](Self::namespace) adds. Clients cannot write a label with a dot: if ids have dots, as addresses of mail do, add a
/// namespace whose labels have none.
///
/// ```
/// use superstep_server::Identity;
///
/// let ann = Identity::new("ann").namespace(["teams", "sales"]);
/// assert_eq!(ann.id(), "ann");
/// let operator = Identity::new("monitoring").sees_all();
/// # drop(operator);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    id: Arc<str>,
    sees_all: bool,
    namespaces: Vec<Vec<String>>,
}

impl Identity {
    /// Creates an identity that sees what belongs to its id.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        let id = id.into();
        let namespaces = vec![vec![id.to_string()]];
        Self { id, sees_all: false, namespaces }
    }

    /// Lets the identity see and change everything, such as for an operator. What it creates belongs to it.
    #[must_use]
    pub fn sees_all(self) -> Self {
        Self { sees_all: true, ..self }
    }

    /// Lets the identity use the items of the long-term store whose namespaces begin with these labels.
    #[must_use]
    pub fn namespace(mut self, labels: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.namespaces.push(labels.into_iter().map(Into::into).collect());
        self
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn shared_id(&self) -> Arc<str> {
        Arc::clone(&self.id)
    }

    pub(crate) fn is_operator(&self) -> bool {
        self.sees_all
    }

    /// Returns `true` if the identity sees a record with this owner, or without one.
    pub(crate) fn sees(&self, owner: Option<&str>) -> bool {
        self.sees_all || owner == Some(self.id())
    }

    /// Returns `true` if the identity may use the items of a namespace and those below it.
    pub(crate) fn may_use(&self, namespace: &[String]) -> bool {
        self.sees_all || self.namespaces.iter().any(|own| namespace.starts_with(own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_see_their_own() {
        let ann = Identity::new("ann").namespace(["teams", "sales"]);
        assert!(ann.sees(Some("ann")) && !ann.sees(Some("an")) && !ann.sees(None));
        assert!(ann.clone().sees_all().sees(None));
        let may =
            |labels: &[&str]| ann.may_use(&labels.iter().map(|&label| label.to_owned()).collect::<Vec<_>>());
        assert!(may(&["ann"]) && may(&["ann", "x"]) && may(&["teams", "sales", "x"]));
        assert!(!may(&[]) && !may(&["teams"]) && !may(&["annx"]) && !may(&["teams", "support"]));
    }
}
