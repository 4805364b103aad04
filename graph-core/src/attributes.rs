//! The words of the derives' attributes as items, so that rust-analyzer completes them and shows what they mean. Generated
//! code names them where only rust-analyzer reads it.

macro_rules! words {
    ($($(#[$docs:meta])* $name:ident)*) => {$(
        $(#[$docs])*
        #[expect(non_upper_case_globals, reason = "it stands for a word of an attribute")]
        pub const $name: () = ();
    )*};
}

/// `#[state(..)]` on a struct.
pub mod state {
    words! {
        /// The case of the names in JSON and checkpoints, as in serde: `rename_all = "camelCase"`.
        rename_all
        /// A function `fn(&Self) -> Result<(), impl Display>` that is checked after every superstep.
        invariant
        /// The version of the state in checkpoints, from 1 on: `version = 2`.
        version
        /// A function `fn(from: u32, stored: &mut Stored) -> Result<(), impl Display>` that migrates a checkpoint of an older
        /// version.
        migrate
        /// A former name of the struct, under which old checkpoints store its version: `alias = ".."`.
        alias
        /// Implements `StateSchema`. Needs the feature `schema`.
        schema
        /// Dumps leave out every `Option` field of the struct that is `None`.
        skip_none
        /// The bounds of a generic state, in place of those that the derive adds: `bound(T: Trait)`.
        bound
    }
}

/// `#[state(..)]` on a field.
pub mod field {
    words! {
        /// Part of the input: an argument of `input(..)`, or a setter if the field is an `Option` or has a `default` or a
        /// reducer.
        input
        /// Part of the output.
        output
        /// Folds an update into the value: a built-in reducer, a type that implements `Reducer`, or a function
        /// `fn(&mut T, U)`. Without one, an update replaces the value.
        reducer
        /// The update type of a reducer function: `takes = Type`.
        takes
        /// Cleared after one superstep could read it.
        ephemeral
        /// In no dump, serialized event or error text. Checkpoints store it.
        exclude
        /// Any Rust type; in no checkpoint, dump, serialized event or JSON input.
        untracked
        /// Left out of dumps, the output and serialized events while it is `None`.
        skip_none
        /// A function `fn(&D) -> T` that makes an `untracked` field from the application context when a run starts.
        from_context
        /// The name of the field in JSON and checkpoints: `rename = ".."`.
        rename
        /// An additional name that is read: `alias = ".."`.
        alias
        /// Dumped through a function, as in serde; `display` and `debug` use these traits.
        serialize_with
        /// Read through a function, as in serde.
        deserialize_with
        /// A module with the functions `serialize` and `deserialize`, as in serde.
        with
        /// The start value of a fresh run, and of a checkpoint that does not store the field: `default` or
        /// `default = expr`.
        default
        /// Rules on the value: `validate(length(min = 1))`.
        validate
        /// The field is another state: its fields are fields of this state in JSON, and its nodes and updates work here.
        flatten
    }
}

/// `#[state(reducer = ..)]`.
pub mod reducer {
    words! {
        /// Appends the items of an update to a list or its text to a string: [`Append`](crate::reducers::Append).
        append
        /// Adds the updates up: [`Add`](crate::reducers::Add).
        add
        /// Merges messages into a conversation by their ids: [`AddMessages`](crate::messages::AddMessages).
        add_messages
        /// Merges the entries of an update into a map: [`Merge`](crate::reducers::Merge).
        merge
        /// Adds the items that a set or a list does not contain yet: [`Union`](crate::reducers::Union).
        union
        /// Keeps the least of all writes: [`Min`](crate::reducers::Min).
        min
        /// Keeps the greatest of all writes: [`Max`](crate::reducers::Max).
        max
        /// Takes the last write; several writers are not a conflict: [`AnyValue`](crate::reducers::AnyValue).
        any_value
        /// Replaces the value, which is cleared after one superstep could read it.
        ephemeral
    }
}

/// `#[state(validate(..))]`.
pub mod rule {
    words! {
        /// The number of items of a collection, or of characters of a string: `length(min = 1, max = 9)`, `length(equal = 3)`.
        length
        /// The range that the number is in; NaN is in no range: `range(min = 0.0, max = 1.0)`.
        range
        /// Every character of the string is ASCII.
        ascii
        /// Every character of the string is a letter or a digit.
        alphanumeric
        /// The string contains the given string: `contains("@")`.
        contains
        /// The string starts with the given string: `prefix("id-")`.
        prefix
        /// The string ends with the given string: `suffix(".md")`.
        suffix
        /// The `Option` is `Some`.
        required
        /// The string is an e-mail address. Needs the feature `email`.
        email
        /// The string is an absolute URL. Needs the feature `url`.
        url
        /// The string matches the regular expression: `pattern("^[a-z]+$")`. Needs the feature `pattern`.
        pattern
        /// The rules hold for each element: `inner(length(min = 1))`.
        inner
        /// The function `fn(&T) -> Result<(), impl Display>` returns `Ok`: `custom(path)`.
        custom
    }
}

/// The bounds of `length` and `range`.
pub mod bound {
    words! {
        /// The smallest value that is allowed.
        min
        /// The largest value that is allowed.
        max
        /// The only length that is allowed.
        equal
    }
}
