use std::sync::{Mutex, MutexGuard, TryLockError};

use super::Session;

/// The session, which the writing thread and callers use in turn.
///
/// A caller never waits for it.
#[derive(Default)]
pub(crate) struct SharedSession(Mutex<Option<Session>>);

impl SharedSession {
    pub(super) fn put(&self, session: Session) {
        *self.lock() = Some(session);
    }

    pub(super) fn take(&self) -> Option<Session> {
        self.lock().take()
    }

    /// Waits for the session. Returns `None` if it is closed.
    pub(super) fn with<T>(&self, run: impl FnOnce(&mut Session) -> T) -> Option<T> {
        self.lock().as_mut().map(run)
    }

    /// Runs at once, or not at all if the session is in use or closed.
    pub(super) fn try_with<T>(&self, run: impl FnOnce(&mut Session) -> Option<T>) -> Option<T> {
        match self.0.try_lock() {
            Ok(mut session) => run(session.as_mut()?),
            // The writing thread cleans up first.
            Err(TryLockError::Poisoned(_) | TryLockError::WouldBlock) => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Session>> {
        self.0.lock().unwrap_or_else(|poisoned| {
            let mut session = poisoned.into_inner();
            // A panic may have left a transaction open, and no time to wait for locks.
            if let Some(session) = &mut *session {
                session.roll_back();
                session.restore_busy_timeout();
            }
            self.0.clear_poison();
            session
        })
    }
}
