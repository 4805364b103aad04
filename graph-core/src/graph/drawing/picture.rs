use std::fmt;

use crate::error::{Error, ErrorKind};
use crate::graph::{Direction, Drawn, Graph};
use crate::node::{NodeRef, Shape};
use crate::state::GraphState;
use crate::thread::{Snapshot, TaskSnapshot};

use super::drawn::{drawn, named};
use super::look::Look;
use super::marked::Marked;
use super::of::spot_of;
use super::sketch::{Arrow, Kind, Mark, START_SPOT, Sketch, Spot};
use super::style::Style;
use super::{dot, mermaid, svg};

/// A picture of a graph, to be drawn as an SVG image, a [Mermaid](https://mermaid.js.org) flowchart or in
/// [Graphviz](https://graphviz.org)' dot language; made by [`Graph::picture`] and [`Thread::picture`](crate::thread::Thread::picture).
///
/// Edges are solid, routes dashed with their labels, packets thick, joins a `+`, deferred nodes round, and a node that is a graph
/// has its own picture inside.
///
/// ```
/// use superstep::graph::Direction;
/// # use superstep::{END, GraphState, Route, START, StateGraph};
/// # #[derive(GraphState, Clone)]
/// # struct Ticket { text: String }
/// # #[derive(Route)]
/// # enum Verdict { #[to(draft)] Rework, #[to(END)] Accept }
/// # async fn draft(_: &Ticket) {}
/// # async fn review(_: &Ticket) -> Verdict { Verdict::Accept }
/// # fn main() -> superstep::Result<()> {
/// # let graph = StateGraph::<Ticket>::new().edge(START, draft).edge(draft, review).compile()?;
/// let picture = graph
///     .picture()
///     .direction(Direction::LeftToRight)
///     .highlight(review)
///     .note(draft, "asks a model")
///     .edge_label(review, END, "signed");
/// assert!(picture.to_mermaid()?.starts_with("flowchart LR\n"));
/// assert!(picture.to_mermaid()?.contains(r#"n1 -. "signed" .-> FINISH"#));
/// assert!(picture.to_svg()?.starts_with("<svg "));
///
/// let wrong = graph.picture().edge_label(review, START, "back").to_dot().unwrap_err();
/// assert_eq!(wrong.to_string(), "graph `Ticket`: the picture cannot be drawn: nothing leads from `review` to `START`");
/// # Ok(())
/// # }
/// ```
#[must_use = "a picture is nothing until it is drawn"]
pub struct Picture<S: GraphState, D = ()> {
    graph: Graph<S, D>,
    sketch: Sketch,
    look: Look,
    /// What was asked for and cannot be shown.
    problems: Vec<String>,
}

impl<S: GraphState, D: Send + Sync + 'static> Picture<S, D> {
    pub(in crate::graph) fn new(graph: Graph<S, D>) -> Self {
        let sketch = Sketch::of(&graph.0);
        Self { graph, sketch, look: Look::default(), problems: Vec::new() }
    }

    /// A title above it.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.look.title = Some(title.into());
        self
    }

    /// Which way it runs; downwards, if it is not said.
    pub fn direction(mut self, direction: Direction) -> Self {
        self.look.direction = direction;
        self
    }

    /// Shows START before this node, and before others only where they are named as well. A machine may begin at any of
    /// its nodes, and has no START in its picture unless it is asked for; of a graph everything that follows START is shown.
    pub fn start<N, M>(mut self, node: N) -> Self
    where
        N: Shape<M>,
        N::Signature: Drawn<N::Body>,
    {
        let node = drawn(node);
        let Some(place) = self.find(&node) else { return self };
        if self.arrows(START_SPOT, place).next().is_some() {
            self.sketch.starts.get_or_insert_default().push(place);
        } else {
            self.report(nothing_leads(&NodeRef::Start, &node));
        }
        self
    }

    /// Highlights a node.
    pub fn highlight<N, M>(self, node: N) -> Self
    where
        N: Shape<M>,
        N::Signature: Drawn<N::Body>,
    {
        self.mark(node, Mark::Highlighted)
    }

    /// Highlights nodes by their names.
    pub fn highlight_named<T: AsRef<str>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        for name in names {
            self.set(&named(name.as_ref()), |spot| spot.mark = Some(Mark::Highlighted));
        }
        self
    }

    /// How highlighted nodes are drawn, as CSS: `fill:pink;stroke-width:3`. What it does not say stays as it is; of dot,
    /// `fill`, `stroke`, `stroke-width` and `color` are what it can take.
    pub fn highlight_style(mut self, css: impl AsRef<str>) -> Self {
        match Style::parse(css.as_ref()) {
            Ok(style) => self.look.highlighted = style,
            Err(problem) => self.report(problem),
        }
        self
    }

    /// Marks a node. What is said last counts.
    pub fn mark<N, M>(mut self, node: N, mark: Mark) -> Self
    where
        N: Shape<M>,
        N::Signature: Drawn<N::Body>,
    {
        self.set(&drawn(node), |spot| spot.mark = Some(mark));
        self
    }

    /// Marks where a thread is: what runs next, what of it waits for an answer or has failed, and what has finished of a
    /// superstep that is half done. Of several tasks of one node the one that somebody has to look at counts. A snapshot
    /// does not know what is inside of its nodes: [`Thread::picture`](crate::thread::Thread::picture) does.
    pub fn at(mut self, snapshot: &Snapshot<S>) -> Self {
        for task in &snapshot.tasks {
            let mark = Mark::of(task);
            self.set(&named(&task.node), |spot| spot.mark = spot.mark.max(Some(mark)));
        }
        self
    }

    /// Marks what is inside of nodes that are graphs.
    pub(crate) fn inside(mut self, marked: &[Marked]) -> Self {
        marked.iter().for_each(|marked| self.sketch.mark(marked));
        self
    }

    /// A note at a node; it may have several lines.
    pub fn note<N, M>(mut self, node: N, text: impl Into<String>) -> Self
    where
        N: Shape<M>,
        N::Signature: Drawn<N::Body>,
    {
        let text = text.into();
        self.set(&drawn(node), |spot| spot.notes.push(text));
        self
    }

    /// What stands at the arrows from one node to another, in the place of a route's own label.
    pub fn edge_label<A, MA, B, MB>(mut self, from: A, to: B, text: impl Into<String>) -> Self
    where
        A: Shape<MA>,
        B: Shape<MB>,
        A::Signature: Drawn<A::Body>,
        B::Signature: Drawn<B::Body>,
    {
        let (from, to, text) = (drawn(from), drawn(to), text.into());
        let (Some(source), Some(target)) = (self.find(&from), self.find(&to)) else { return self };
        let mut found = false;
        for arrow in self.arrows(source, target) {
            arrow.label = Some(text.clone());
            found = true;
        }
        match &mut self.sketch.starts {
            _ if !found => self.report(nothing_leads(&from, &to)),
            // What is said of it is to be seen.
            Some(starts) if source == START_SPOT => starts.push(target),
            _ => {}
        }
        self
    }

    /// Leaves out all labels of arrows that have been said so far, those of routes among them.
    pub fn without_edge_labels(mut self) -> Self {
        self.sketch.arrows.iter_mut().for_each(|arrow| arrow.label = None);
        self
    }

    /// The picture as a Mermaid flowchart.
    ///
    /// # Errors
    /// [`Picture`](ErrorKind::Picture) with everything that was asked for and is not in the graph.
    pub fn to_mermaid(&self) -> Result<String, Error> {
        self.check().map(|()| mermaid::mermaid(&self.sketch, &self.look))
    }

    /// The picture in dot.
    ///
    /// # Errors
    /// As [`to_mermaid`](Self::to_mermaid).
    pub fn to_dot(&self) -> Result<String, Error> {
        self.check().map(|()| dot::dot(&self.sketch, &self.look))
    }

    /// The picture as an SVG image: one element, without script, font or other files, that can be put into a page or a file.
    ///
    /// # Errors
    /// As [`to_mermaid`](Self::to_mermaid).
    pub fn to_svg(&self) -> Result<String, Error> {
        self.check().map(|()| svg::svg(&self.sketch, &self.look))
    }

    fn check(&self) -> Result<(), Error> {
        if self.problems.is_empty() {
            return Ok(());
        }
        Err(Error::new(self.graph.name(), ErrorKind::Picture { problems: self.problems.clone() }))
    }

    fn report(&mut self, problem: String) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// The place of a node among the spots.
    fn find(&mut self, node: &NodeRef) -> Option<usize> {
        let graph = &self.graph.0;
        let found = match node {
            NodeRef::Start => Some(START_SPOT),
            NodeRef::End => self.sketch.spots.iter().position(|spot| spot.kind == Kind::End),
            NodeRef::Named(name) => graph.find(name).map(spot_of),
            node => graph.places.get(node).copied().map(spot_of),
        };
        if found.is_none() {
            self.report(format!("there is no node `{}`", node.name()));
        }
        found
    }

    fn arrows(&mut self, from: usize, to: usize) -> impl Iterator<Item = &mut Arrow> {
        self.sketch.arrows.iter_mut().filter(move |arrow| (arrow.from, arrow.to) == (from, to))
    }

    fn set(&mut self, node: &NodeRef, change: impl FnOnce(&mut Spot)) {
        if let Some(place) = self.find(node)
            && let Some(spot) = self.sketch.spots.get_mut(place)
        {
            change(spot);
        }
    }
}

fn nothing_leads(from: &NodeRef, to: &NodeRef) -> String {
    format!("nothing leads from `{}` to `{}`", from.name(), to.name())
}

impl Mark {
    pub(crate) fn of<S: GraphState>(task: &TaskSnapshot<S>) -> Self {
        // How it failed is known still when it has run again.
        if task.result.is_some() {
            Self::Finished
        } else if !task.interrupts.is_empty() {
            Self::Waiting
        } else if task.error.is_some() {
            Self::Failed
        } else {
            Self::Planned
        }
    }
}

impl<S: GraphState, D> fmt::Debug for Picture<S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Picture").field("graph", &self.graph).finish_non_exhaustive()
    }
}
