//! The spans and events that `tracing` reports, recorded as a tree in text form.

use std::collections::HashMap;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// Records all spans and events of this thread until it is dropped.
pub struct Recorded {
    trace: Arc<Mutex<Trace>>,
    _guard: DefaultGuard,
}

#[derive(Default)]
struct Trace {
    /// All spans and events in order of arrival. Events have no id.
    entries: Vec<Entry>,
    open: HashMap<u64, usize>,
}

#[derive(Default)]
struct Entry {
    name: String,
    parent: Option<usize>,
    fields: Vec<(String, String)>,
    closed: bool,
}

/// The subscriber layer that fills a [`Recorded`].
pub struct Recorder(Arc<Mutex<Trace>>);

impl Recorded {
    /// Starts to record.
    #[must_use]
    pub fn here() -> Self {
        // While there is only one subscriber, `tracing` asks that of the thread that reaches an event first whether the
        // event is of interest. A thread of another test, which has none, would switch it off for all.
        static SECOND: OnceLock<Dispatch> = OnceLock::new();
        SECOND.get_or_init(|| Dispatch::new(Registry::default()));
        let trace = Arc::<Mutex<Trace>>::default();
        let recorder = Recorder(Arc::clone(&trace));
        let subscriber = tracing_subscriber::registry().with(recorder);
        Self { trace, _guard: tracing::subscriber::set_default(subscriber) }
    }

    /// Returns the layer, for a subscriber of the test's own.
    #[must_use]
    pub fn layer(&self) -> Recorder {
        Recorder(Arc::clone(&self.trace))
    }

    /// Returns the tree with the fields that `shown` accepts.
    ///
    /// Siblings of one superstep are in the order of their tasks.
    #[must_use]
    pub fn tree(&self, shown: impl Fn(&str) -> bool) -> String {
        let trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::new();
        trace.write(None, 0, &shown, &mut out);
        out
    }

    /// Returns the tree with the library's own fields, without their prefix.
    #[must_use]
    pub fn short(&self) -> String {
        self.tree(|field| !field.starts_with("otel.") && !field.starts_with("gen_ai.")).replace("graph.", "")
    }

    /// Returns the tree with every field.
    #[must_use]
    pub fn whole(&self) -> String {
        self.tree(|_| true)
    }
}

impl Trace {
    fn write(&self, parent: Option<usize>, depth: usize, shown: &impl Fn(&str) -> bool, out: &mut String) {
        let mut children: Vec<(usize, &Entry)> =
            self.entries.iter().enumerate().filter(|(_, entry)| entry.parent == parent).collect();
        children
            .sort_by_key(|(_, entry)| entry.field("graph.task").and_then(|task| task.parse::<usize>().ok()));
        for (index, entry) in children {
            let _ = write!(out, "{:width$}{}", "", entry.name, width = depth * 2);
            for (name, value) in entry.fields.iter().filter(|(name, _)| shown(name)) {
                let _ = write!(out, " {name}={value}");
            }
            out.push_str(if entry.closed { "\n" } else { " (open)\n" });
            self.write(Some(index), depth + 1, shown, out);
        }
    }
}

impl Entry {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

impl Visit for Entry {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.push((field.name().to_owned(), format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.push((field.name().to_owned(), value.to_owned()));
    }
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut entry = Entry { name: attributes.metadata().name().to_owned(), ..Entry::default() };
        attributes.record(&mut entry);
        let parent = context.span(id).and_then(|span| span.parent()).map(|parent| parent.id().into_u64());
        let mut trace = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entry.parent = parent.and_then(|parent| trace.open.get(&parent).copied());
        trace.entries.push(entry);
        let index = trace.entries.len() - 1;
        trace.open.insert(id.into_u64(), index);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut trace = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = trace.open.get(&id.into_u64()).copied()
            && let Some(entry) = trace.entries.get_mut(index)
        {
            values.record(entry);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut entry = Entry { name: "event".to_owned(), closed: true, ..Entry::default() };
        event.record(&mut entry);
        let span = context.event_span(event).map(|span| span.id().into_u64());
        let mut trace = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entry.parent = span.and_then(|span| trace.open.get(&span).copied());
        trace.entries.push(entry);
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        let mut trace = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = trace.open.remove(&id.into_u64())
            && let Some(entry) = trace.entries.get_mut(index)
        {
            entry.closed = true;
        }
    }
}
