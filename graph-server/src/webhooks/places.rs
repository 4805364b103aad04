use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::Url;

use crate::protocol::RunId;
use crate::records::WebhookRecord;

/// The number of calls that are under way to one host, and for one identity. The others wait, and those after them do not.
pub(super) const AT_ONCE_EACH: usize = 8;

/// The places of the calls that are under way.
#[derive(Clone, Debug, Default)]
pub(super) struct Places(Arc<Mutex<Taken>>);

#[derive(Debug, Default)]
struct Taken {
    runs: HashSet<RunId>,
    sources: HashMap<Source, usize>,
}

/// A part of the calls that could slow others down.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// The calls to a host, which may not respond.
    Host(String),
    /// The calls for an identity, which may use many hosts.
    Identity(Arc<str>),
}

impl Taken {
    fn is_full(&self, source: &Source) -> bool {
        self.sources.get(source).is_some_and(|count| *count >= AT_ONCE_EACH)
    }
}

impl Source {
    pub(super) fn of(webhook: &WebhookRecord) -> Vec<Self> {
        let host = Url::parse(&webhook.url).ok().and_then(|url| Some(Self::Host(url.host_str()?.to_owned())));
        host.into_iter().chain(webhook.user_id.clone().map(Self::Identity)).collect()
    }
}

impl Places {
    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the source that has no room for another call.
    pub(super) fn full<'s>(&self, sources: &'s [Source]) -> Option<&'s Source> {
        let taken = self.lock();
        sources.iter().find(|source| taken.is_full(source))
    }

    /// Takes a place for a call. `None` if the call is under way, or if its host or its identity has no room for it.
    pub(super) fn take(&self, webhook: &WebhookRecord) -> Option<Place> {
        let (run, sources) = (webhook.run_id, Source::of(webhook));
        let mut taken = self.lock();
        if sources.iter().any(|source| taken.is_full(source)) || !taken.runs.insert(run) {
            return None;
        }
        for source in &sources {
            *taken.sources.entry(source.clone()).or_default() += 1;
        }
        drop(taken);
        Some(Place { places: self.clone(), run, sources })
    }
}

/// The place of a call. It is free again when it is dropped, however the call ends.
#[derive(Debug)]
pub(super) struct Place {
    places: Places,
    run: RunId,
    sources: Vec<Source>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.runs.remove(&self.run);
        for source in &self.sources {
            match taken.sources.get_mut(source) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(taken.sources.remove(source)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::protocol::Timestamp;

    fn webhook(host: &str, user: Option<&str>) -> WebhookRecord {
        WebhookRecord {
            run_id: RunId::new(),
            user_id: user.map(Arc::from),
            url: format!("https://{host}/done"),
            body: Value::Null,
            due: Timestamp::default(),
            attempts: 0,
        }
    }

    #[test]
    fn dropped_places_are_free_again() {
        let places = Places::default();
        let first = webhook("a.example", Some("ann"));
        let place = places.take(&first).unwrap();
        assert!(places.take(&first).is_none(), "the call is under way");
        let others: Vec<_> =
            (1..AT_ONCE_EACH).map(|_| places.take(&webhook("a.example", None)).unwrap()).collect();
        assert!(places.take(&webhook("a.example", None)).is_none(), "the host is full");
        let of_ann: Vec<_> = (1..AT_ONCE_EACH)
            .map(|n| places.take(&webhook(&format!("{n}.example"), Some("ann"))).unwrap())
            .collect();
        assert!(places.take(&webhook("b.example", Some("ann"))).is_none(), "the identity is full");
        drop(place);
        drop(places.take(&first).unwrap());
        drop((others, of_ann));
        assert!(places.lock().runs.is_empty() && places.lock().sources.is_empty());
    }
}
