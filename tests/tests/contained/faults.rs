//! Values whose code panics at a chosen call, with a payload that panics once more when it is dropped.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, panic_any};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use futures_util::FutureExt as _;
use serde::de::Deserializer;
use serde::ser::{SerializeTuple as _, Serializer};
use serde::{Deserialize, Serialize};

/// A kind of user code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Op {
    Clone,
    Drop,
    Serialize,
    Deserialize,
    Compare,
    Display,
    Source,
    ErrorDrop,
    Function,
    Store,
}

impl Op {
    pub(crate) const ALL: [Self; 10] = [
        Self::Clone,
        Self::Drop,
        Self::Serialize,
        Self::Deserialize,
        Self::Compare,
        Self::Display,
        Self::Source,
        Self::ErrorDrop,
        Self::Function,
        Self::Store,
    ];
}

/// The calls of the values of one test run, and the call that panics.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) id: u64,
    op: Option<Op>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// `true` while calls are counted.
    on: bool,
    target: Option<(Op, usize)>,
    counts: HashMap<Op, usize>,
}

/// Prints no report of the panics that are part of a test.
static QUIET: LazyLock<()> = LazyLock::new(|| {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !(panic.payload().is::<Bomb>() || panic.payload_as_str() == Some(AGAIN)) {
            hook(panic);
        }
    }));
});

static ALL: LazyLock<Mutex<HashMap<u64, Arc<Faults>>>> = LazyLock::new(Mutex::default);
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Faults {
    pub(crate) fn new(target: Option<(Op, usize)>) -> Arc<Self> {
        LazyLock::force(&QUIET);
        let faults = Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            op: target.map(|(op, _)| op),
            state: Mutex::new(State { target, ..State::default() }),
        };
        let faults = Arc::new(faults);
        ALL.lock().unwrap().insert(faults.id, Arc::clone(&faults));
        faults
    }

    pub(crate) fn set_on(&self, on: bool) {
        self.state.lock().unwrap().on = on;
    }

    pub(crate) fn count(&self, op: Op) -> usize {
        self.state.lock().unwrap().counts.get(&op).copied().unwrap_or_default()
    }

    /// Returns `true` if a call of one of these kinds panics or has panicked.
    pub(crate) fn is_of<const N: usize>(&self, ops: [Op; N]) -> bool {
        self.op.is_some_and(|op| ops.contains(&op))
    }

    /// Awaits a call of the library. The error is a string; a panic that unwinds out of the call is an error as well.
    pub(crate) async fn call<T>(
        &self,
        name: &str,
        call: impl Future<Output = Result<T, superstep::Error>>,
    ) -> Result<T, Failed> {
        self.set_on(true);
        let done = AssertUnwindSafe(call).catch_unwind().await;
        self.set_on(false);
        match done {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(Failed::Typed(format!("{}: {error:?}", error.kind().name()))),
            Err(panic) => {
                std::mem::forget(panic);
                Err(Failed::Unwound(name.to_owned()))
            }
        }
    }
}

#[derive(Debug)]
pub(crate) enum Failed {
    /// The call returned an error.
    Typed(String),
    /// The call unwound.
    Unwound(String),
}

/// Counts a call, and panics if it is the chosen one.
pub(crate) fn hit(id: u64, op: Op) {
    let Some(faults) = ALL.lock().unwrap().get(&id).cloned() else { return };
    let mut state = faults.state.lock().unwrap();
    // A second panic during the first would abort the process, in any program.
    if !state.on || std::thread::panicking() {
        return;
    }
    let count = state.counts.entry(op).or_default();
    *count += 1;
    let here = Some((op, *count));
    if state.target == here {
        state.target = None;
        drop(state);
        panic_any(Bomb);
    }
}

/// A payload whose drop panics.
struct Bomb;

const AGAIN: &str = "the payload panics too";

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("{AGAIN}");
        }
    }
}

/// A value whose code may panic.
pub(crate) struct Trap {
    pub(crate) id: u64,
    pub(crate) text: String,
}

impl Trap {
    pub(crate) fn new(id: u64, text: impl Into<String>) -> Self {
        Self { id, text: text.into() }
    }
}

impl Default for Trap {
    fn default() -> Self {
        Self::new(0, "")
    }
}

impl Clone for Trap {
    fn clone(&self) -> Self {
        hit(self.id, Op::Clone);
        Self::new(self.id, self.text.clone())
    }
}

impl Drop for Trap {
    fn drop(&mut self) {
        hit(self.id, Op::Drop);
    }
}

impl fmt::Debug for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Trap {
    fn eq(&self, other: &Self) -> bool {
        hit(self.id, Op::Compare);
        self.text == other.text
    }
}

impl Eq for Trap {}

impl Hash for Trap {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hit(self.id, Op::Compare);
        self.text.hash(hasher);
    }
}

impl Serialize for Trap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(2)?;
        tuple.serialize_element(&self.id)?;
        hit(self.id, Op::Serialize);
        tuple.serialize_element(&self.text)?;
        tuple.end()
    }
}

impl<'de> Deserialize<'de> for Trap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (id, text) = <(u64, String)>::deserialize(deserializer)?;
        hit(id, Op::Deserialize);
        Ok(Self { id, text })
    }
}

/// An error whose code may panic.
pub(crate) struct TrapError(pub(crate) u64);

impl fmt::Debug for TrapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TrapError")
    }
}

impl fmt::Display for TrapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a trap")?;
        hit(self.0, Op::Display);
        Ok(())
    }
}

impl std::error::Error for TrapError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        hit(self.0, Op::Source);
        // Its own cause.
        Some(self)
    }
}

impl Drop for TrapError {
    fn drop(&mut self) {
        hit(self.0, Op::ErrorDrop);
    }
}
