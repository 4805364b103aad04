//! The names of error types in logs and metrics.

use std::any::type_name;

/// Returns the public path of an error type. `std` returns the path of the definition, which changes when our files move.
/// A type of ours that is not public is called by its last path segment.
pub(crate) fn error_name(defined: &'static str) -> &'static str {
    if !OURS.iter().any(|ours| defined.starts_with(ours)) {
        return defined;
    }
    let names = names();
    let known = names.iter().chain(&OF_AGENTS).find(|(of, _)| *of == defined);
    known.map_or_else(|| own_name(defined), |(_, public)| public)
}

const OURS: [&str; 4] = ["superstep::", "superstep_agent::", "superstep_sqlite::", "superstep_store::"];

macro_rules! names {
    ($($path:path),* $(,)?) => {
        /// The public paths of this crate's errors, by their path of definition.
        fn names() -> [(&'static str, &'static str); [$(stringify!($path)),*].len()] {
            use crate as superstep;
            [$((type_name::<$path>(), stringify!($path))),*]
        }
    };
}

names! {
    superstep::Error,
    superstep::ErrorKind,
    superstep::NodeError,
    superstep::NodeFailure,
    superstep::WiringProblem,
    superstep::cache::CacheError,
    superstep::checkpoint::CorruptCheckpoint,
    superstep::checkpoint::InvalidCheckpointId,
    superstep::checkpoint::CheckpointError,
    superstep::interrupt::InterruptMismatch,
    superstep::messages::UnknownRole,
    superstep::payload::Unreadable,
    superstep::payload::Unstorable,
    superstep::policy::TimedOut,
    superstep::reducers::ReduceError,
    superstep::state::DecodeError,
    superstep::state::EncodeError,
    superstep::state::InputError,
    superstep::state::MigrationError,
    superstep::state::RestoreError,
    superstep::store::CorruptItem,
    superstep::store::StoreError,
    superstep::thread::InvalidThreadCursor,
}

/// The public paths of errors of `superstep-agent`. It depends on this crate, so its types cannot be named here.
const OF_AGENTS: [(&str, &str); 4] = [
    ("superstep_agent::model::error::ModelError", "superstep_agent::ModelError"),
    (
        "superstep_agent::agent::structured_output_node::InvalidOutput",
        "superstep_agent::agent::InvalidOutput",
    ),
    ("superstep_agent::tool::output::Fatal", "superstep_agent::tool::Fatal"),
    ("superstep_agent::tool::tools::InvalidTools", "superstep_agent::tool::InvalidTools"),
];

fn own_name(defined: &'static str) -> &'static str {
    let path = defined.split_once('<').map_or(defined, |(path, _)| path);
    path.rsplit_once("::").map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::{error_name, names};
    use crate::cache::CacheError;
    use crate::error::node_error::NodeError;
    use crate::node::PacketMissing;
    use crate::payload::{Payload, from_payload, to_payload};
    use crate::policy::TimedOut;

    #[test]
    fn own_errors_have_their_public_path() {
        let late = NodeError::from(TimedOut::Attempt { limit: std::time::Duration::ZERO });
        assert_eq!(late.type_name(), "superstep::policy::TimedOut");
        assert_eq!(NodeError::from(PacketMissing).type_name(), "PacketMissing");
        let unstorable = NodeError::from(to_payload(&f64::NAN).unwrap_err());
        assert_eq!(unstorable.type_name(), "superstep::payload::Unstorable");
        let unreadable = NodeError::from(from_payload::<u8>(&Payload::json("{}")).unwrap_err());
        assert_eq!(unreadable.type_name(), "superstep::payload::Unreadable");
        let cache = NodeError::from(CacheError::backend("read an entry", "the disk is full"));
        assert_eq!(cache.type_name(), "superstep::cache::CacheError");
        for (defined, public) in names() {
            assert_eq!(error_name(defined), public);
            assert!(!public.contains(' '), "{public}");
        }
    }

    #[test]
    fn foreign_errors_have_the_name_from_std() {
        let parse = NodeError::from("x".parse::<u8>().unwrap_err());
        assert_eq!(parse.type_name(), "core::num::error::ParseIntError");
        assert_eq!(error_name("superstepx::Error"), "superstepx::Error");
        assert_eq!(error_name("superstep::a::B<user::C>"), "B");
    }
}
