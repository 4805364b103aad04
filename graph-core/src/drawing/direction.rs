/// The direction in which a picture runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
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
    /// Returns the direction's code in Mermaid and Graphviz, which differ in the code for downwards.
    pub(crate) fn letters(self, down: &'static str) -> &'static str {
        match self {
            Self::TopToBottom => down,
            Self::LeftToRight => "LR",
            Self::BottomToTop => "BT",
            Self::RightToLeft => "RL",
        }
    }

    pub(crate) fn is_upright(self) -> bool {
        matches!(self, Self::TopToBottom | Self::BottomToTop)
    }
}
