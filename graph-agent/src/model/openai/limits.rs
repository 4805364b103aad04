use super::ModelError;

/// The maximum sizes of replies, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// A complete reply, or all events of a streamed one.
    pub(super) reply: usize,
    /// One event of a streamed reply.
    pub(super) event: usize,
}

impl Limits {
    /// Room for the longest replies of today's models: a streamed reply takes a few hundred bytes for each token, and an event
    /// may hold an image.
    pub(super) const DEFAULT: Self = Self { reply: 64 * 1024 * 1024, event: 16 * 1024 * 1024 };

    pub(super) fn check_reply(self, model: &str, bytes: usize) -> Result<(), ModelError> {
        check(model, bytes, self.reply, "max_reply_size")
    }

    pub(super) fn check_event(self, model: &str, bytes: usize) -> Result<(), ModelError> {
        check(model, bytes, self.event, "max_event_size")
    }
}

fn check(model: &str, bytes: usize, limit: usize, setting: &'static str) -> Result<(), ModelError> {
    if bytes <= limit {
        return Ok(());
    }
    Err(ModelError::ReplyTooLarge {
        model: model.to_owned(),
        reason: format!("it exceeds `{setting}`, which is {limit} bytes: raise it if the model is trusted"),
    })
}
