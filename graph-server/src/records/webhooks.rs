use superstep::store::Batch;

use super::{Records, WebhookRecord, keys};
#[cfg(feature = "webhooks")]
use super::{Scan, Stored};
#[cfg(feature = "webhooks")]
use crate::protocol::{RunId, Timestamp};

impl Records {
    /// Adds a result to send to a batch.
    pub(super) fn put_webhook(&self, batch: Batch, webhook: Option<&WebhookRecord>) -> Batch {
        match webhook {
            Some(new) => batch.put(self.put(keys::webhooks(), &keys::oldest_first(new.due, new.run_id), new)),
            None => batch,
        }
    }
}

#[cfg(feature = "webhooks")]
impl Records {
    /// Reads the results to send after one of them, soonest first. The first batch has up to `size` of them.
    pub(crate) fn webhooks(&self, after: Option<(Timestamp, RunId)>, size: usize) -> Scan<WebhookRecord> {
        let scan = Scan::new(&self.store, keys::webhooks(), Vec::new(), size);
        match after {
            Some((due, run)) => scan.after(&keys::oldest_first(due, run)),
            None => scan,
        }
    }

    /// Returns the result of a run that is to be sent at a time. `None` if it was sent, or is to be sent at another time.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn webhook(&self, due: Timestamp, run: RunId) -> Stored<Option<WebhookRecord>> {
        self.of(keys::webhooks()).get(keys::oldest_first(due, run)).await
    }

    /// Replaces a result to send, or removes it.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) async fn replace_webhook(
        &self,
        old: &WebhookRecord,
        new: Option<&WebhookRecord>,
    ) -> Stored<()> {
        let batch = self.batch().delete(keys::webhooks(), keys::oldest_first(old.due, old.run_id));
        self.put_webhook(batch, new).await.map(drop)
    }
}
