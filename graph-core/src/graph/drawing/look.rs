use crate::graph::Direction;

use super::diagram::Mark;
use super::style::Style;

/// The appearance of a picture, independent of its contents.
#[derive(Clone, Debug, Default)]
pub(super) struct Look {
    pub(super) title: Option<String>,
    pub(super) direction: Direction,
    /// The caller's style for highlighted nodes.
    pub(super) highlighted: Style,
}

impl Look {
    /// Returns the style of a marked node.
    pub(super) fn of(&self, mark: Mark) -> Style {
        let usual = Style::of(mark.colours());
        match mark {
            Mark::Highlighted => usual.and(&self.highlighted),
            _ => usual,
        }
    }
}
