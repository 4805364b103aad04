use superstep::store::Batch;

use super::{Records, WebhookRecord, keys};
#[cfg(feature = "webhooks")]
use super::{Scan, Stored};

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
    /// Reads the results to send, soonest first. The first batch has up to `size` of them.
    pub(crate) fn webhooks(&self, size: usize) -> Scan<WebhookRecord> {
        Scan::new(&self.store, keys::webhooks(), Vec::new(), size)
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
