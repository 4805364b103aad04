use std::sync::Arc;

use crate::engine::ErasedNode;
use crate::erased::PacketType;
use crate::step::Exit;

/// An error handler in a draft.
pub struct DraftHandler {
    pub(super) name: String,
    pub(super) run: Arc<dyn ErasedNode>,
    pub(super) exits: Option<Vec<Exit>>,
    pub(super) packet: Option<PacketType>,
}

impl Clone for DraftHandler {
    fn clone(&self) -> Self {
        let Self { name, run, exits, packet } = self;
        Self { name: name.clone(), run: Arc::clone(run), exits: exits.clone(), packet: *packet }
    }
}
