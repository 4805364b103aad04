//! Calls of the user's code that must not unwind through a store or the engine.
//!
//! User code is each node, reducer, rule and policy function, and each impl of `Display`, `Clone`, `Drop`, `Serialize` and
//! `Deserialize` of the user's types.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

mod text;

pub use text::{bounded, chain, display_text, error_text, write_error};

/// Calls user code, and returns the message of a panic.
pub fn contained<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(panic_message)
}

/// Returns the message of a caught panic, and drops the panic.
#[cold]
pub fn panic_message(panic: Box<dyn Any + Send>) -> String {
    let message = if let Some(text) = panic.downcast_ref::<&str>() {
        bounded(text)
    } else if let Some(text) = panic.downcast_ref::<String>() {
        bounded(text)
    } else {
        "(no message)".to_owned()
    };
    discard(panic);
    message
}

/// Drops a value of the user, and ignores a panic of its `Drop`.
pub fn discard<T>(value: T) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) else { return };
    // The payload of that panic may panic as well when it is dropped, and so on. The second one is leaked.
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(panic);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::panic_any;

    use super::*;

    /// A payload that panics with another one of its kind when it is dropped.
    struct Bomb(u32);

    impl Drop for Bomb {
        fn drop(&mut self) {
            if self.0 > 0 {
                panic_any(Bomb(self.0 - 1));
            }
        }
    }

    #[test]
    fn panic_becomes_its_message() {
        assert_eq!(contained(|| 1), Ok(1));
        assert_eq!(contained(|| panic!("plain")), Err::<(), _>("plain".to_owned()));
        assert_eq!(contained(|| panic!("{}", 7)), Err::<(), _>("7".to_owned()));
        let long = contained(|| panic!("{}", "x".repeat(1 << 20))).unwrap_err();
        assert!(long.len() < 1 << 15 && long.ends_with("(cut off)"), "{}", long.len());
    }

    #[test]
    fn payload_whose_drop_panics_is_contained() {
        for depth in 0..4 {
            assert_eq!(contained(|| panic_any(Bomb(depth))), Err::<(), _>("(no message)".to_owned()));
            discard(Bomb(depth));
        }
    }
}
