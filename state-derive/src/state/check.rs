//! Everything that is wrong although it is well formed.

use crate::attr::Problems;

use super::model::State;
use super::parse::Struct;

pub(super) fn syntax(_raw: &Struct, _problems: &mut Problems) {}

pub(super) fn meaning(_state: &State, _problems: &mut Problems) {}
