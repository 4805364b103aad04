use std::fmt;

use crate::drawing::{Arrow, Diagram, Direction, Kind, Look, Mark, Marked, START_VERTEX, Style, Vertex};
use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::node::Shape;
use crate::state::GraphState;
use crate::step::NodeRef;

use super::drawn::{Drawn, drawn, named};
use super::from_shape::vertex_of;

/// A picture of a graph, drawn as an SVG image, as a [Mermaid](https://mermaid.js.org) flowchart or in the dot language
/// of [Graphviz](https://graphviz.org). Made by [`Graph::picture`] and
/// [`Thread::picture`](crate::thread::Thread::picture).
///
/// Edges are solid, routes are dashed and have labels, packets are thick, joins are a `+`, and deferred nodes are
/// round. A subgraph has its own picture inside its node.
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
/// assert_eq!(wrong.to_string(), "graph `Ticket`: the picture cannot be drawn: no edge or route leads from `review` to `START`");
/// # Ok(())
/// # }
/// ```
#[must_use = "a picture is nothing until it is drawn"]
pub struct Picture<S: GraphState, D = ()> {
    graph: Graph<S, D>,
    diagram: Diagram,
    look: Look,
    /// The mistakes found so far.
    problems: Vec<String>,
}

impl<S: GraphState, D: Send + Sync + 'static> Graph<S, D> {
    /// Returns a picture of this graph, to which notes, labels and marks can be added before it is drawn.
    pub fn picture(&self) -> Picture<S, D> {
        Picture::new(self.clone())
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Picture<S, D> {
    fn new(graph: Graph<S, D>) -> Self {
        let diagram = Diagram::of(&graph.shape());
        Self { graph, diagram, look: Look::default(), problems: Vec::new() }
    }

    /// Sets a title above the picture.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.look.title = Some(title.into());
        self
    }

    /// Sets the direction of the picture. The default is downwards.
    pub fn direction(mut self, direction: Direction) -> Self {
        self.look.direction = direction;
        self
    }

    /// Shows an arrow from START to this node.
    ///
    /// A machine may begin at any of its nodes, so its picture has no START without this call. As soon as one node is
    /// named, only the named nodes have such an arrow. In the picture of a plain graph without this call, START leads
    /// to every node that follows it.
    pub fn start<N, M>(mut self, node: N) -> Self
    where
        N: Shape<M>,
        N::Signature: Drawn<N::Body>,
    {
        let node = drawn(node);
        let Some(place) = self.find(&node) else { return self };
        if self.arrows(START_VERTEX, place).next().is_some() {
            self.diagram.starts.get_or_insert_default().push(place);
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
            self.set(&named(name.as_ref()), |vertex| vertex.mark = Some(Mark::Highlighted));
        }
        self
    }

    /// Sets the style of highlighted nodes in CSS, such as `fill:pink;stroke-width:3`. Other properties keep their
    /// defaults. The dot format supports `fill`, `stroke`, `stroke-width` and `color`.
    pub fn highlight_style(mut self, css: impl AsRef<str>) -> Self {
        match Style::parse(css.as_ref()) {
            Ok(style) => self.look.highlighted = style,
            Err(problem) => self.report(problem),
        }
        self
    }

    /// Marks a node. The last mark of a node wins.
    pub fn mark<N, M>(mut self, node: N, mark: Mark) -> Self
    where
        N: Shape<M>,
        N::Signature: Drawn<N::Body>,
    {
        self.set(&drawn(node), |vertex| vertex.mark = Some(mark));
        self
    }

    /// Marks vertices inside subgraphs.
    pub(crate) fn inside(mut self, marked: &[Marked]) -> Self {
        marked.iter().for_each(|marked| self.diagram.mark(marked));
        self
    }

    /// Adds a note to a node. It may have several lines.
    pub fn note<N, M>(mut self, node: N, text: impl Into<String>) -> Self
    where
        N: Shape<M>,
        N::Signature: Drawn<N::Body>,
    {
        let text = text.into();
        self.set(&drawn(node), |vertex| vertex.notes.push(text));
        self
    }

    /// Sets the label of the arrows from one node to another, in place of the label of a route.
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
        match &mut self.diagram.starts {
            _ if !found => self.report(nothing_leads(&from, &to)),
            // A labelled arrow is shown.
            Some(starts) if source == START_VERTEX => starts.push(target),
            _ => {}
        }
        self
    }

    /// Removes all labels that arrows have so far, including those of routes.
    pub fn without_edge_labels(mut self) -> Self {
        self.diagram.arrows.iter_mut().for_each(|arrow| arrow.label = None);
        self
    }

    /// Draws the picture as a Mermaid flowchart.
    ///
    /// # Errors
    /// [`InvalidPicture`](ErrorKind::InvalidPicture) with all mistakes: nodes and arrows that the graph does not have,
    /// and invalid styles.
    pub fn to_mermaid(&self) -> Result<String, Error> {
        self.check().map(|()| self.diagram.to_mermaid(&self.look))
    }

    /// Draws the picture in the dot language.
    ///
    /// # Errors
    /// As [`to_mermaid`](Self::to_mermaid).
    pub fn to_dot(&self) -> Result<String, Error> {
        self.check().map(|()| self.diagram.to_dot(&self.look))
    }

    /// Draws the picture as an SVG image: one element without scripts, fonts or other files, for a page or a file.
    ///
    /// # Errors
    /// As [`to_mermaid`](Self::to_mermaid).
    pub fn to_svg(&self) -> Result<String, Error> {
        self.check().map(|()| self.diagram.to_svg(&self.look))
    }

    fn check(&self) -> Result<(), Error> {
        if self.problems.is_empty() {
            return Ok(());
        }
        Err(Error::new(self.graph.name(), ErrorKind::InvalidPicture { problems: self.problems.clone() }))
    }

    fn report(&mut self, problem: String) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Returns the index of a node's vertex.
    fn find(&mut self, node: &NodeRef) -> Option<usize> {
        let graph = &self.graph.0;
        let found = match node {
            NodeRef::Start => Some(START_VERTEX),
            NodeRef::End => self.diagram.vertices.iter().position(|vertex| vertex.kind == Kind::End),
            NodeRef::Named(name) => graph.find(name).map(vertex_of),
            node => graph.indices.get(node).copied().map(vertex_of),
        };
        if found.is_none() {
            self.report(format!("the graph has no node `{}`", node.name()));
        }
        found
    }

    fn arrows(&mut self, from: usize, to: usize) -> impl Iterator<Item = &mut Arrow> {
        self.diagram.arrows.iter_mut().filter(move |arrow| (arrow.from, arrow.to) == (from, to))
    }

    pub(crate) fn set(&mut self, node: &NodeRef, change: impl FnOnce(&mut Vertex)) {
        if let Some(place) = self.find(node)
            && let Some(vertex) = self.diagram.vertices.get_mut(place)
        {
            change(vertex);
        }
    }
}

fn nothing_leads(from: &NodeRef, to: &NodeRef) -> String {
    format!("no edge or route leads from `{}` to `{}`", from.name(), to.name())
}

impl<S: GraphState, D> fmt::Debug for Picture<S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Picture").field("graph", &self.graph).finish_non_exhaustive()
    }
}
