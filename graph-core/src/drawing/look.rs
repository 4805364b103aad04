use super::diagram::Mark;
use super::direction::Direction;
use super::style::Style;

/// The appearance of a picture, independent of its contents.
#[derive(Clone, Debug, Default)]
pub(crate) struct Look {
    pub(crate) title: Option<String>,
    pub(crate) direction: Direction,
    /// The caller's style for highlighted nodes.
    pub(crate) highlighted: Style,
}

impl Look {
    /// Returns the style of a marked node.
    pub(crate) fn of(&self, mark: Mark) -> Style {
        let usual = Style::of(mark.colours());
        match mark {
            Mark::Highlighted => usual.and(&self.highlighted),
            _ => usual,
        }
    }
}
