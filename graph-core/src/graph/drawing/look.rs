use crate::graph::Direction;

use super::sketch::Mark;
use super::style::Style;

/// How a picture looks, whatever it shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Look {
    pub(super) title: Option<String>,
    pub(super) direction: Direction,
    /// What was said of highlighted nodes.
    pub(super) highlighted: Style,
}

impl Look {
    /// How a marked node is drawn.
    pub(super) fn of(&self, mark: Mark) -> Style {
        let usual = Style::of(mark.colours());
        match mark {
            Mark::Highlighted => usual.and(&self.highlighted),
            _ => usual,
        }
    }
}
