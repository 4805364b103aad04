//! What `tracing` was told while something ran, as a tree in words.

use std::collections::HashMap;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;

/// Everything that is told on this thread, and on others for what is run from it, while this lives.
pub struct Recorded {
    told: Arc<Mutex<Told>>,
    _guard: DefaultGuard,
}

#[derive(Default)]
struct Told {
    /// In the order in which they came; events are spans without an id.
    lines: Vec<Line>,
    open: HashMap<u64, usize>,
}

#[derive(Default)]
struct Line {
    name: String,
    under: Option<usize>,
    fields: Vec<(String, String)>,
    closed: bool,
}

/// Tells a [`Recorded`] what it hears.
pub struct Recorder(Arc<Mutex<Told>>);

impl Recorded {
    /// From now on.
    #[must_use]
    pub fn here() -> Self {
        let told = Arc::<Mutex<Told>>::default();
        let recorder = Recorder(Arc::clone(&told));
        let subscriber = tracing_subscriber::registry().with(recorder);
        Self { told, _guard: tracing::subscriber::set_default(subscriber) }
    }

    /// What tells it, for a subscriber of one's own.
    #[must_use]
    pub fn layer(&self) -> Recorder {
        Recorder(Arc::clone(&self.told))
    }

    /// The tree, with the fields that `shown` lets through. Siblings of one superstep in the order of their tasks.
    #[must_use]
    pub fn tree(&self, shown: impl Fn(&str) -> bool) -> String {
        let told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = String::new();
        told.write(None, 0, &shown, &mut out);
        out
    }

    /// The tree with our own fields, without the prefix of their names.
    #[must_use]
    pub fn short(&self) -> String {
        self.tree(|field| !field.starts_with("otel.") && !field.starts_with("gen_ai.")).replace("graph.", "")
    }

    /// The tree with every field.
    #[must_use]
    pub fn whole(&self) -> String {
        self.tree(|_| true)
    }
}

impl Told {
    fn write(&self, under: Option<usize>, depth: usize, shown: &impl Fn(&str) -> bool, out: &mut String) {
        let mut children: Vec<(usize, &Line)> =
            self.lines.iter().enumerate().filter(|(_, line)| line.under == under).collect();
        children
            .sort_by_key(|(_, line)| line.field("graph.task").and_then(|task| task.parse::<usize>().ok()));
        for (index, line) in children {
            let _ = write!(out, "{:width$}{}", "", line.name, width = depth * 2);
            for (name, value) in line.fields.iter().filter(|(name, _)| shown(name)) {
                let _ = write!(out, " {name}={value}");
            }
            out.push_str(if line.closed { "\n" } else { " (open)\n" });
            self.write(Some(index), depth + 1, shown, out);
        }
    }
}

impl Line {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.push((field.name().to_owned(), format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.push((field.name().to_owned(), value.to_owned()));
    }
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut line = Line { name: attributes.metadata().name().to_owned(), ..Line::default() };
        attributes.record(&mut line);
        let parent = context.span(id).and_then(|span| span.parent()).map(|parent| parent.id().into_u64());
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        line.under = parent.and_then(|parent| told.open.get(&parent).copied());
        told.lines.push(line);
        let index = told.lines.len() - 1;
        told.open.insert(id.into_u64(), index);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = told.open.get(&id.into_u64()).copied()
            && let Some(line) = told.lines.get_mut(index)
        {
            values.record(line);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut line = Line { name: "event".to_owned(), closed: true, ..Line::default() };
        event.record(&mut line);
        let within = context.event_span(event).map(|span| span.id().into_u64());
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        line.under = within.and_then(|within| told.open.get(&within).copied());
        told.lines.push(line);
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = told.open.remove(&id.into_u64())
            && let Some(line) = told.lines.get_mut(index)
        {
            line.closed = true;
        }
    }
}
