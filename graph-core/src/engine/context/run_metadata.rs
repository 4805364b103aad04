use std::ops::Deref;
use std::sync::Arc;

use crate::checkpoint::RunRecord;
use crate::options::Metadata;

/// The keys and values of a run's caller.
#[derive(Clone)]
pub(crate) enum RunMetadata {
    Own(Metadata),
    /// Those in the record of a run on a thread.
    OfRecord(Arc<RunRecord>),
}

impl Deref for RunMetadata {
    type Target = Metadata;

    fn deref(&self) -> &Metadata {
        match self {
            Self::Own(metadata) => metadata,
            Self::OfRecord(record) => &record.metadata,
        }
    }
}
