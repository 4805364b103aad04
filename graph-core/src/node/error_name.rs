//! What a type of an error is called in logs and metrics.

use std::any::type_name;

/// The public path of a type, from where it is defined: what `std` knows of a type names files of ours, which move. A type of
/// ours that nobody can name is called by its own name.
pub(super) fn error_name(defined: &'static str) -> &'static str {
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
        /// By where they are defined, the paths of the errors of this crate.
        fn names() -> [(&'static str, &'static str); [$(stringify!($path)),*].len()] {
            use crate as superstep;
            [$((type_name::<$path>(), stringify!($path))),*]
        }
    };
}

names! {
    superstep::Error,
    superstep::NodeError,
    superstep::NodeFailure,
    superstep::checkpoint::CorruptCheckpoint,
    superstep::checkpoint::InvalidCheckpointId,
    superstep::checkpoint::CheckpointError,
    superstep::interrupt::InterruptMismatch,
    superstep::policy::TimedOut,
    superstep::reducers::ReduceError,
    superstep::state::DecodeError,
    superstep::state::EncodeError,
    superstep::state::InputError,
    superstep::state::MigrationError,
    superstep::state::RestoreError,
    superstep::store::CorruptItem,
    superstep::store::StoreError,
}

/// Of a crate that stands on this one, which can be named here in words only.
const OF_AGENTS: [(&str, &str); 3] = [
    ("superstep_agent::model::error::ModelError", "superstep_agent::ModelError"),
    ("superstep_agent::agent::answer_node::NoAnswer", "superstep_agent::agent::NoAnswer"),
    ("superstep_agent::tool::output::Fatal", "superstep_agent::tool::Fatal"),
];

fn own_name(defined: &'static str) -> &'static str {
    let path = defined.split_once('<').map_or(defined, |(path, _)| path);
    path.rsplit_once("::").map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::{error_name, names};
    use crate::NodeError;
    use crate::node::PacketMissing;
    use crate::policy::TimedOut;

    #[test]
    fn an_error_of_ours_is_named_as_it_can_be_used() {
        let late = NodeError::from(TimedOut::Attempt { limit: std::time::Duration::ZERO });
        assert_eq!(late.type_name(), "superstep::policy::TimedOut");
        assert_eq!(NodeError::from(PacketMissing).type_name(), "PacketMissing");
        for (defined, public) in names() {
            assert_eq!(error_name(defined), public);
            assert!(!public.contains(' '), "{public}");
        }
    }

    #[test]
    fn an_error_of_somebody_else_is_named_as_rustc_does() {
        let parse = NodeError::from("x".parse::<u8>().unwrap_err());
        assert_eq!(parse.type_name(), "core::num::error::ParseIntError");
        assert_eq!(error_name("superstepx::Error"), "superstepx::Error");
        assert_eq!(error_name("superstep::a::B<user::C>"), "B");
    }
}
