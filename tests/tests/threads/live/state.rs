//! A state with every built-in reducer, and writes to it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use superstep::messages::{AiMessage, Message, MessageUpdate, MessagesUpdate, Remove, ToolCall};
use superstep::reducers::{ReduceError, Reducer, Stamp, StoredAs};
use superstep::{GraphState, Overwrite};

#[derive(GraphState, Clone, Debug, Default, PartialEq)]
pub(super) struct All {
    pub(super) plain: Option<u32>,
    #[state(reducer = append)]
    pub(super) list: Vec<u32>,
    #[state(reducer = append)]
    deque: VecDeque<u32>,
    #[state(reducer = append)]
    text: Option<String>,
    #[state(reducer = add)]
    whole: u64,
    #[state(reducer = add)]
    real: f64,
    #[state(reducer = add)]
    time: Option<Duration>,
    #[state(reducer = merge)]
    map: BTreeMap<u32, u32>,
    #[state(reducer = merge)]
    hashes: Option<HashMap<u32, u32>>,
    #[state(reducer = union)]
    set: BTreeSet<u32>,
    #[state(reducer = union)]
    hash_set: HashSet<u32>,
    #[state(reducer = union)]
    once: Option<Vec<u32>>,
    #[state(reducer = max)]
    greatest: Option<f64>,
    #[state(reducer = min)]
    least: Option<u32>,
    #[state(reducer = any_value)]
    any: u32,
    #[state(reducer = subtract)]
    function: i64,
    #[state(reducer = Alone)]
    alone: Vec<u32>,
    #[state(input, reducer = add_messages)]
    pub(super) messages: Vec<Message>,
    #[state(reducer = add_messages)]
    pub(super) aside: Option<Vec<Message>>,
    #[state(ephemeral, reducer = append)]
    pub(super) hints: Vec<u32>,
    #[state(ephemeral)]
    pub(super) tip: Option<u32>,
}

fn subtract(value: &mut i64, by: i64) {
    *value -= by;
}

/// Appends, but only one task of a superstep may write.
enum Alone {}

impl Reducer<Vec<u32>> for Alone {
    type Update = u32;
    type Delta = u32;

    const EXCLUSIVE: bool = true;
    const STORED: StoredAs = StoredAs::Delta;

    fn prepare(update: u32, _: &Stamp<'_>) -> Result<u32, ReduceError> {
        Ok(update)
    }

    fn fold(value: &mut Vec<u32>, delta: u32) -> Result<(), ReduceError> {
        value.push(delta);
        Ok(())
    }
}

/// One write to a field.
#[derive(Clone, Debug)]
pub(super) struct Write {
    field: u8,
    overwrite: bool,
    number: u32,
    changes: Vec<Change>,
}

/// One change of a conversation.
#[derive(Clone, Debug)]
enum Change {
    New,
    NewCall,
    PutOwn(char),
    AddOwn(char),
    Replace(usize),
    Remove(usize),
    RemoveAll,
}

/// Selects a few fields. With all fields, two tasks would seldom write the same one.
pub(super) fn fields() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0..21_u8, 1..4)
}

/// A write to one of these fields.
pub(super) fn write(fields: &[u8]) -> BoxedStrategy<Write> {
    let change = prop_oneof![
        4 => Just(Change::New),
        1 => Just(Change::NewCall),
        2 => prop::char::range('a', 'c').prop_map(Change::PutOwn),
        1 => prop::char::range('a', 'c').prop_map(Change::AddOwn),
        2 => (0..9_usize).prop_map(Change::Replace),
        2 => (0..9_usize).prop_map(Change::Remove),
        1 => Just(Change::RemoveAll),
    ];
    let field = prop::sample::select(fields.to_vec());
    let changes = prop::collection::vec(change, 1..5);
    (field, prop::bool::weighted(0.25), 0..5_u32, changes)
        .prop_map(|(field, overwrite, number, changes)| Write { field, overwrite, number, changes })
        .boxed()
}

/// The number of new messages so far. Each has its own text.
static NEW: AtomicUsize = AtomicUsize::new(0);

impl Change {
    fn update(&self, now: &[Message]) -> MessageUpdate {
        let id = |at: usize| now[at % now.len()].id().unwrap().to_owned();
        let fresh = || format!("n{}", NEW.fetch_add(1, Ordering::Relaxed));
        match *self {
            Self::NewCall => Message::from(AiMessage::new(fresh()).call(ToolCall::new("", "clock"))).into(),
            Self::PutOwn(own) => Message::human("put").with_id(own).into(),
            Self::AddOwn(own) => MessagesUpdate::of_client([Message::human("put").with_id(own)]).0.remove(0),
            Self::Replace(at) if !now.is_empty() => Message::ai("replaced").with_id(id(at)).into(),
            Self::Remove(at) if !now.is_empty() => Remove::id(id(at)).into(),
            Self::RemoveAll => Remove::all().into(),
            Self::New | Self::Replace(_) | Self::Remove(_) => fresh().into(),
        }
    }
}

/// Returns the update that a node makes.
pub(super) fn update(writes: &[Write], now: &All) -> AllUpdate {
    writes.iter().fold(All::update(), |update, write| write.add_to(update, now))
}

macro_rules! written {
    ($update:expr, $field:ident, $overwrite:expr, $whole:expr, $part:expr) => {
        if $overwrite { $update.$field(Overwrite($whole)) } else { $update.$field($part) }
    };
}

impl Write {
    fn add_to(&self, update: AllUpdate, now: &All) -> AllUpdate {
        let (n, o) = (self.number, self.overwrite);
        let changes =
            |now: &[Message]| MessagesUpdate::from_iter(self.changes.iter().map(|change| change.update(now)));
        let whole =
            || vec![Message::human("o").with_id("a"), Message::ai("o"), Message::human("o2").with_id("a")];
        match self.field {
            0 => written!(update, plain, o, Some(n), Some(n)),
            1 => written!(update, list, o, vec![n], [n, n]),
            2 => written!(update, deque, o, VecDeque::from([n]), [n]),
            3 => written!(update, text, o, None, n.to_string()),
            4 => written!(update, whole, o, 0, u64::from(n)),
            5 => written!(update, real, o, 0.1, f64::from(n) / 7.0),
            6 => written!(update, time, o, None, Duration::from_millis(n.into())),
            7 => written!(update, map, o, BTreeMap::from([(9, n)]), [(n, n + 1), (0, n)]),
            8 => written!(update, hashes, o, None, [(n, n + 1), (0, n)]),
            9 => written!(update, set, o, BTreeSet::new(), [n]),
            10 => written!(update, hash_set, o, HashSet::from([9]), [n, n + 1]),
            11 => written!(update, once, o, Some(vec![9, 9]), [n, n, 9]),
            12 => written!(update, greatest, o, None, f64::from(n) / 3.0),
            13 => written!(update, least, o, Some(9), n),
            14 => written!(update, any, o, n, 7),
            15 => written!(update, function, o, 100, i64::from(n)),
            16 => written!(update, alone, o, vec![n], n),
            17 => written!(update, messages, o, whole(), changes(&now.messages)),
            18 => {
                written!(update, aside, o, Some(whole()), changes(now.aside.as_deref().unwrap_or_default()))
            }
            19 => written!(update, hints, o, vec![n], [n]),
            _ => written!(update, tip, o, Some(n), Some(n)),
        }
    }
}
