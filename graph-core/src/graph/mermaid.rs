use std::fmt::Write as _;

use crate::error::{Error, ErrorKind};
use crate::node::{Body, End, EndSignature, NodeRef, Shape, Signature, Start, StartSignature};
use crate::plan::Target;
use crate::state::GraphState;

use super::Graph;
use super::picture::{Stroke, arrows, ends, source_id, target_id};

/// A [Mermaid](https://mermaid.js.org) flowchart of a graph or a machine; made by [`Graph::mermaid`].
///
/// ```
/// use graph_core::graph::Direction;
/// # use graph_core::{END, GraphState, Route, START, StateGraph};
/// # #[derive(GraphState, Clone)]
/// # struct Ticket { text: String }
/// # #[derive(Route)]
/// # enum Verdict { #[to(draft)] Rework, #[to(END)] Accept }
/// # async fn draft(_: &Ticket) {}
/// # async fn review(_: &Ticket) -> Verdict { Verdict::Accept }
/// # fn main() -> graph_core::Result<()> {
/// # let graph = StateGraph::<Ticket>::new().edge(START, draft).edge(draft, review).compile()?;
/// let picture = graph
///     .mermaid()
///     .direction(Direction::LeftToRight)
///     .highlight(review)
///     .note(draft, "asks a model")
///     .edge_label(review, END, "signed")
///     .draw()?;
/// assert!(picture.starts_with("flowchart LR\n"));
/// assert!(picture.contains(r#"n1 -. "signed" .-> FINISH"#));
///
/// let wrong = graph.mermaid().edge_label(review, START, "back").draw().unwrap_err();
/// assert_eq!(wrong.to_string(), "graph `Ticket`: cannot be drawn like this: nothing leads from `review` to `START`");
/// # Ok(())
/// # }
/// ```
#[must_use = "a picture is nothing until it is drawn"]
pub struct Mermaid<'g, S: GraphState, D = ()> {
    graph: &'g Graph<S, D>,
    title: Option<String>,
    direction: Direction,
    starts: Vec<NodeRef>,
    highlighted: Vec<NodeRef>,
    style: String,
    notes: Vec<(NodeRef, String)>,
    labels: Vec<(NodeRef, NodeRef, String)>,
    labelled: bool,
}

/// Which way a picture runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Downwards.
    #[default]
    TopToBottom,
    /// To the right.
    LeftToRight,
    /// Upwards.
    BottomToTop,
    /// To the left.
    RightToLeft,
}

impl Direction {
    /// As Mermaid and Graphviz say it; `down` is how they say it of the first.
    pub(super) fn letters(self, down: &'static str) -> &'static str {
        match self {
            Self::TopToBottom => down,
            Self::LeftToRight => "LR",
            Self::BottomToTop => "BT",
            Self::RightToLeft => "RL",
        }
    }

    pub(super) fn is_upright(self) -> bool {
        matches!(self, Self::TopToBottom | Self::BottomToTop)
    }
}

/// Something that a picture shows: a node, START or END.
#[diagnostic::on_unimplemented(
    message = "a picture does not show this",
    label = "is neither a node, nor START or END"
)]
pub trait Drawn<B> {
    #[doc(hidden)]
    fn node(body: B) -> NodeRef;
}

#[diagnostic::do_not_recommend]
impl<F, Args, Out> Drawn<Body<F>> for Signature<Args, Out> {
    fn node(body: Body<F>) -> NodeRef {
        body.node
    }
}

#[diagnostic::do_not_recommend]
impl Drawn<End> for EndSignature {
    fn node(_: End) -> NodeRef {
        NodeRef::End
    }
}

#[diagnostic::do_not_recommend]
impl Drawn<Start> for StartSignature {
    fn node(_: Start) -> NodeRef {
        NodeRef::Start
    }
}

pub(super) fn drawn<N, M>(node: N) -> NodeRef
where
    N: Shape<M>,
    N::Signature: Drawn<N::Body>,
{
    <N::Signature as Drawn<N::Body>>::node(node.into_body())
}

impl<'g, S: GraphState, D: Send + Sync + 'static> Mermaid<'g, S, D> {
    pub(super) fn new(graph: &'g Graph<S, D>) -> Self {
        Self {
            graph,
            title: None,
            direction: Direction::default(),
            starts: Vec::new(),
            highlighted: Vec::new(),
            style: "fill:#fdff32".to_owned(),
            notes: Vec::new(),
            labels: Vec::new(),
            labelled: true,
        }
    }

    /// A title above it.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Which way it runs; downwards, if it is not said.
    pub fn direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// Shows START before this node, and before others only where they are named as well. A machine may begin at any of
    /// its nodes, and has no START in its picture unless it is asked for; of a graph everything that follows START is shown.
    pub fn start<N, M>(mut self, node: N) -> Self
    where
        N: Shape<M>,
        N::Signature: Drawn<N::Body>,
    {
        self.starts.push(drawn(node));
        self
    }

    /// Highlights a node.
    pub fn highlight<N, M>(mut self, node: N) -> Self
    where
        N: Shape<M>,
        N::Signature: Drawn<N::Body>,
    {
        self.highlighted.push(drawn(node));
        self
    }

    /// The same for nodes by their names: those that run next, say, as a [snapshot](crate::thread::Snapshot::next) has them.
    pub fn highlight_named<T: AsRef<str>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.highlighted.extend(names.into_iter().map(|name| match name.as_ref() {
            "START" => NodeRef::Start,
            "END" => NodeRef::End,
            name => NodeRef::Named(name.to_owned().into()),
        }));
        self
    }

    /// How highlighted nodes are drawn, as CSS; `fill:#fdff32` if it is not said.
    pub fn highlight_style(mut self, css: impl Into<String>) -> Self {
        self.style = css.into();
        self
    }

    /// A note at a node.
    pub fn note<N, M>(mut self, node: N, text: impl Into<String>) -> Self
    where
        N: Shape<M>,
        N::Signature: Drawn<N::Body>,
    {
        self.notes.push((drawn(node), text.into()));
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
        self.labels.push((drawn(from), drawn(to), text.into()));
        self
    }

    /// Leaves all labels of arrows out.
    pub fn without_edge_labels(mut self) -> Self {
        self.labelled = false;
        self
    }

    /// The picture.
    ///
    /// # Errors
    /// [`Picture`](ErrorKind::Picture) with everything that was asked for and is not in the graph.
    pub fn draw(&self) -> Result<String, Error> {
        let problems = self.problems();
        if problems.is_empty() {
            return Ok(self.text());
        }
        Err(Error::new(&self.graph.0.name, ErrorKind::Picture { problems }))
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let notes = self.notes.iter().map(|(node, _)| node);
        let ends = self.labels.iter().flat_map(|(from, to, _)| [from, to]);
        for node in self.starts.iter().chain(&self.highlighted).chain(notes).chain(ends) {
            let problem = format!("there is no node `{}`", node.name());
            if self.id(node).is_none() && !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        let starts = self.starts.iter().map(|to| (&NodeRef::Start, to));
        for (from, to) in starts.chain(self.labels.iter().map(|(from, to, _)| (from, to))) {
            let (Some(source), Some(target)) = (self.id(from), self.id(to)) else { continue };
            let mut all = arrows(&self.graph.0.topology);
            if !all.any(|(from, to, _)| source_id(from) == source && target_id(to) == target) {
                problems.push(format!("nothing leads from `{}` to `{}`", from.name(), to.name()));
            }
        }
        problems
    }

    /// What a place is called inside the picture.
    fn id(&self, node: &NodeRef) -> Option<String> {
        let graph = &self.graph.0;
        match node {
            NodeRef::Start => Some(source_id(None)),
            NodeRef::End => ends(&graph.topology).then(|| target_id(Target::End)),
            NodeRef::Named(name) => graph.find(name).map(|node| source_id(Some(node))),
            node => graph.places.get(node).map(|&node| source_id(Some(node))),
        }
    }

    /// Whether the arrow from START to this place is shown.
    fn starts_at(&self, to: Target) -> bool {
        let to = target_id(to);
        if self.starts.is_empty() {
            return !self.graph.0.anywhere;
        }
        self.starts.iter().any(|start| self.id(start).as_ref() == Some(&to))
    }

    fn text(&self) -> String {
        let (topology, names) = (&self.graph.0.topology, &self.graph.0.names);
        let mut out = String::new();
        if let Some(title) = &self.title {
            let _ = writeln!(out, "---\ntitle: {}\n---", serde_json::Value::from(title.as_str()));
        }
        let _ = writeln!(out, "flowchart {}", self.direction.letters("TD"));
        if !self.graph.0.anywhere || !self.starts.is_empty() {
            out.push_str("    START([START])\n");
        }
        for (node, name) in names.iter().enumerate() {
            let name = quoted(name);
            let deferred = topology.nodes.get(node).is_some_and(|plan| plan.deferred);
            let _ = if deferred {
                writeln!(out, "    n{node}([\"{name}\"])")
            } else {
                writeln!(out, "    n{node}[\"{name}\"]")
            };
        }
        if ends(topology) {
            out.push_str("    FINISH([END])\n");
        }
        for (from, to, stroke) in arrows(topology) {
            if from.is_some() || self.starts_at(to) {
                self.arrow(&mut out, from, to, &stroke);
            }
        }
        for (index, join) in topology.joins.iter().enumerate() {
            let _ = writeln!(out, "    j{index}((\"+\"))");
            for source in &join.sources {
                let _ = writeln!(out, "    n{source} --> j{index}");
            }
            let _ = writeln!(out, "    j{index} --> {}", target_id(join.target));
        }
        self.extras(&mut out);
        out
    }

    fn arrow(&self, out: &mut String, from: Option<usize>, to: Target, stroke: &Stroke<'_>) {
        let given = |(a, b, _): &&(NodeRef, NodeRef, String)| {
            self.id(a) == Some(source_id(from)) && self.id(b) == Some(target_id(to))
        };
        let given = self.labels.iter().find(given).map(|(.., label)| label.as_str());
        let label = given.or_else(|| stroke.label(to, &self.graph.0.names)).filter(|_| self.labelled);
        let (open, close) = match stroke {
            Stroke::Edge => ("--", "-->"),
            Stroke::Route(_) => ("-.", ".->"),
            Stroke::Packet(_) => ("==", "==>"),
        };
        let (from, to) = (source_id(from), target_id(to));
        let _ = match label {
            Some(label) => writeln!(out, "    {from} {open} \"{}\" {close} {to}", quoted(label)),
            // Without a label, a dotted arrow is one token.
            None if open == "-." => writeln!(out, "    {from} -.-> {to}"),
            None => writeln!(out, "    {from} {close} {to}"),
        };
    }

    fn extras(&self, out: &mut String) {
        for (index, (node, text)) in self.notes.iter().enumerate() {
            let Some(node) = self.id(node) else { continue };
            let lines: Vec<String> = text.lines().map(quoted).collect();
            let _ = writeln!(out, "    note{index}>\"{}\"]\n    note{index} -.- {node}", lines.join("<br/>"));
        }
        if self.highlighted.is_empty() {
            return;
        }
        let _ = writeln!(out, "    classDef highlighted {}", self.style);
        let mut seen = Vec::new();
        for node in self.highlighted.iter().filter_map(|node| self.id(node)) {
            if !seen.contains(&node) {
                let _ = writeln!(out, "    class {node} highlighted");
                seen.push(node);
            }
        }
    }
}

/// A backtick at the beginning would make the text Markdown, a line may look like a comment or a directive.
fn quoted(text: &str) -> String {
    let escaped = |c: char| matches!(c, '#' | '&' | '"' | '<' | '>' | '`' | '%' | ';') || c.is_control();
    text.chars().map(|c| if escaped(c) { format!("#{};", u32::from(c)) } else { c.into() }).collect()
}

impl<S: GraphState, D> std::fmt::Debug for Mermaid<'_, S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mermaid").field("graph", &self.graph).finish_non_exhaustive()
    }
}
