//! Records events and spans, for tests.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, OnceLock};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// The fields of an event or a span.
pub(crate) type Fields = BTreeMap<&'static str, String>;

/// An event of the server.
#[derive(Clone, Debug)]
pub(crate) struct Logged {
    pub(crate) level: String,
    pub(crate) name: &'static str,
    pub(crate) fields: Fields,
    /// The fields of all spans around it.
    pub(crate) spans: Fields,
}

impl Logged {
    /// The level, the name and some fields, with spaces between them.
    pub(crate) fn line(&self, fields: &[&str]) -> String {
        let shown = fields.iter().filter_map(|field| self.fields.get(field)).map(String::as_str);
        [self.level.as_str(), self.name].into_iter().chain(shown).collect::<Vec<_>>().join(" ")
    }
}

/// What was recorded.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Arc<Mutex<Vec<Logged>>>);

impl Recorder {
    /// Records until the guard is dropped, on this thread.
    pub(crate) fn start() -> (Self, DefaultGuard) {
        // While there is only one subscriber, `tracing` asks that of the thread that reaches an event first whether the
        // event is of interest. A thread of another test, which has none, would switch it off for all.
        static SECOND: OnceLock<Dispatch> = OnceLock::new();
        SECOND.get_or_init(|| Dispatch::new(Registry::default()));
        let recorder = Self::default();
        let subscriber = tracing_subscriber::registry().with(recorder.clone());
        (recorder, tracing::subscriber::set_default(subscriber))
    }

    /// Returns the events whose names begin with one of these.
    pub(crate) fn events(&self, names: &[&str]) -> Vec<Logged> {
        let events = self.0.lock().unwrap();
        events.iter().filter(|event| names.iter().any(|name| event.name.starts_with(name))).cloned().collect()
    }

    /// Returns these events as lines with some fields.
    pub(crate) fn lines(&self, names: &[&str], fields: &[&str]) -> Vec<String> {
        self.events(names).iter().map(|event| event.line(fields)).collect()
    }

    /// Everything that was recorded.
    pub(crate) fn text(&self) -> String {
        format!("{:?}", self.0.lock().unwrap())
    }
}

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::new();
        attributes.record(&mut Visitor(&mut fields));
        context.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        let mut extensions = span.extensions_mut();
        values.record(&mut Visitor(extensions.get_mut::<Fields>().unwrap()));
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let (mut fields, mut spans) = (Fields::new(), Fields::new());
        event.record(&mut Visitor(&mut fields));
        for span in context.event_scope(event).into_iter().flatten() {
            for (name, value) in span.extensions().get::<Fields>().unwrap() {
                spans.insert(name, value.clone());
            }
        }
        let (level, name) = (event.metadata().level().to_string(), event.metadata().name());
        self.0.lock().unwrap().push(Logged { level, name, fields, spans });
    }
}

struct Visitor<'f>(&'f mut Fields);

impl Visit for Visitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}
