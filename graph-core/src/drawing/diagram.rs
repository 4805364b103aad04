use std::borrow::Cow;

/// The index of START, which is the first vertex.
pub(crate) const START_VERTEX: usize = 0;

/// The contents of a picture, independent of the output format. A vertex may contain a nested diagram.
#[derive(Clone, Debug, Default)]
pub(crate) struct Diagram {
    pub(crate) name: String,
    /// The vertices that START is shown to lead to; `None` for all of them. A machine may begin at any node.
    pub(crate) starts: Option<Vec<usize>>,
    pub(crate) vertices: Vec<Vertex>,
    pub(crate) arrows: Vec<Arrow>,
}

/// A node, START, END or a join in a picture.
#[derive(Clone, Debug)]
pub(crate) struct Vertex {
    /// An identifier of letters and digits.
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) kind: Kind,
    pub(crate) mark: Option<Mark>,
    pub(crate) notes: Vec<String>,
    pub(crate) inner: Option<Diagram>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Start,
    End,
    Node,
    Deferred,
    Join,
}

/// An arrow from one vertex to another, by their indices.
#[derive(Clone, Debug)]
pub(crate) struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) label: Option<String>,
    pub(crate) kind: ArrowKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrowKind {
    Edge,
    Route,
    Packet,
}

/// The mark of a node in a picture: a colour, and a sign in front of the node's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Mark {
    /// A task of the node has finished, but its superstep has not.
    Finished,
    /// A task of the node is pending and runs next.
    Planned,
    /// A task of the node is pending and waits for the answer to an open interrupt.
    Waiting,
    /// A task of the node is pending and has failed.
    Failed,
    /// The node is highlighted by the caller.
    Highlighted,
}

impl Mark {
    pub(crate) const ALL: [Self; 5] =
        [Self::Finished, Self::Planned, Self::Waiting, Self::Failed, Self::Highlighted];

    /// Returns the CSS class.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Planned => "planned",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::Highlighted => "highlighted",
        }
    }

    /// Returns the fill and line colours, which suit dark text.
    pub(crate) fn colours(self) -> (&'static str, &'static str) {
        match self {
            Self::Finished => ("#c6f0d2", "#2f855a"),
            Self::Planned => ("#ffe9a8", "#b7791f"),
            Self::Waiting => ("#dcd3ff", "#6b46c1"),
            Self::Failed => ("#ffcaca", "#c53030"),
            Self::Highlighted => ("#fdff32", "#8a8b00"),
        }
    }

    /// Returns a sign in front of the label, for readers who cannot tell the colours apart.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Finished => "\u{2713} ",
            Self::Planned => "\u{25b6} ",
            Self::Waiting => "? ",
            Self::Failed => "! ",
            Self::Highlighted => "",
        }
    }
}

impl Vertex {
    /// Returns the label with the sign of the mark.
    pub(crate) fn signed_label(&self) -> String {
        format!("{}{}", self.mark.map_or("", |mark| mark.sign()), self.label)
    }
}

impl Diagram {
    /// Returns the diagram without the arrows of START that are not shown.
    pub(crate) fn shown(&self) -> Cow<'_, Self> {
        let Some(starts) = &self.starts else { return Cow::Borrowed(self) };
        let mut shown = Self { starts: None, ..self.clone() };
        shown.arrows.retain(|arrow| arrow.from != START_VERTEX || starts.contains(&arrow.to));
        let start_is_annotated =
            self.vertices.first().is_some_and(|start| start.mark.is_some() || !start.notes.is_empty());
        if starts.is_empty() && !start_is_annotated {
            shown.vertices.remove(START_VERTEX);
            for arrow in &mut shown.arrows {
                (arrow.from, arrow.to) = (arrow.from.saturating_sub(1), arrow.to.saturating_sub(1));
            }
        }
        Cow::Owned(shown)
    }

    /// Returns the marks in use, in the order of [`Mark::ALL`].
    pub(crate) fn marks(&self) -> Vec<Mark> {
        fn collect(diagram: &Diagram, into: &mut Vec<Mark>) {
            for vertex in &diagram.vertices {
                into.extend(vertex.mark);
                if let Some(inner) = &vertex.inner {
                    collect(inner, into);
                }
            }
        }
        let mut found = Vec::new();
        collect(self, &mut found);
        Mark::ALL.into_iter().filter(|mark| found.contains(mark)).collect()
    }
}
