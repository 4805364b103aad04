use std::borrow::Cow;

/// The place of START, which comes first.
pub(super) const START_SPOT: usize = 0;

/// What a picture shows, whatever form it is drawn in. A spot may have a picture inside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sketch {
    pub(crate) name: String,
    /// The spots to which START is shown to lead, where it is not all of them: a machine may begin at any.
    pub(crate) starts: Option<Vec<usize>>,
    pub(crate) spots: Vec<Spot>,
    pub(crate) arrows: Vec<Arrow>,
}

/// A place in a picture.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    /// What it is called inside the picture: letters and digits.
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) kind: Kind,
    pub(crate) mark: Option<Mark>,
    pub(crate) notes: Vec<String>,
    pub(crate) inner: Option<Sketch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Start,
    End,
    Node,
    Deferred,
    Join,
}

/// An arrow from one spot to another, by their places.
#[derive(Clone, Debug)]
pub(crate) struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) label: Option<String>,
    pub(crate) stroke: Stroke,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stroke {
    Edge,
    Route,
    Packet,
}

/// How a node is marked in a picture: by colour, and where a form has room for it by a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Mark {
    /// It has finished, and its superstep has not.
    Finished,
    /// It runs next.
    Planned,
    /// It waits for an answer.
    Waiting,
    /// It has failed.
    Failed,
    /// Somebody wants it to be seen.
    Highlighted,
}

impl Mark {
    pub(super) const ALL: [Self; 5] =
        [Self::Finished, Self::Planned, Self::Waiting, Self::Failed, Self::Highlighted];

    /// What it is called in a picture.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Planned => "planned",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::Highlighted => "highlighted",
        }
    }

    /// Fill and line, for dark text.
    pub(super) fn colours(self) -> (&'static str, &'static str) {
        match self {
            Self::Finished => ("#c6f0d2", "#2f855a"),
            Self::Planned => ("#ffe9a8", "#b7791f"),
            Self::Waiting => ("#dcd3ff", "#6b46c1"),
            Self::Failed => ("#ffcaca", "#c53030"),
            Self::Highlighted => ("#fdff32", "#8a8b00"),
        }
    }

    /// For whoever cannot tell the colours apart.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Finished => "\u{2713} ",
            Self::Planned => "\u{25b6} ",
            Self::Waiting => "? ",
            Self::Failed => "! ",
            Self::Highlighted => "",
        }
    }
}

impl Sketch {
    /// What is drawn of it.
    pub(super) fn shown(&self) -> Cow<'_, Self> {
        let Some(starts) = &self.starts else { return Cow::Borrowed(self) };
        let mut shown = Self { starts: None, ..self.clone() };
        shown.arrows.retain(|arrow| arrow.from != START_SPOT || starts.contains(&arrow.to));
        let said = self.spots.first().is_some_and(|start| start.mark.is_some() || !start.notes.is_empty());
        if starts.is_empty() && !said {
            shown.spots.remove(START_SPOT);
            for arrow in &mut shown.arrows {
                (arrow.from, arrow.to) = (arrow.from.saturating_sub(1), arrow.to.saturating_sub(1));
            }
        }
        Cow::Owned(shown)
    }

    /// Every mark that is in it, in an order of its own.
    pub(super) fn marks(&self) -> Vec<Mark> {
        fn collect(sketch: &Sketch, into: &mut Vec<Mark>) {
            for spot in &sketch.spots {
                into.extend(spot.mark);
                if let Some(inner) = &spot.inner {
                    collect(inner, into);
                }
            }
        }
        let mut found = Vec::new();
        collect(self, &mut found);
        Mark::ALL.into_iter().filter(|mark| found.contains(mark)).collect()
    }
}
