//! The suite detects faults: each faulty store fails the case for its fault.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a faulty store may panic in its test")]

mod fault;
mod faulty;
mod tamper;

use superstep_conformance::{Damage, TestStore, block_on, run};
use superstep_store::checkpoint::CheckpointError;

use fault::Fault;
use faulty::Faulty;

struct FaultyTestStore(Faulty);

impl TestStore for FaultyTestStore {
    type Store = Faulty;

    async fn open(&self) -> Result<Faulty, CheckpointError> {
        Ok(if self.0.fault == Fault::ForgetsWhenClosed { Faulty::new(self.0.fault) } else { self.0.clone() })
    }

    async fn damage(&self, damage: &Damage<'_>) -> bool {
        let Damage::OneThread { thread } = damage else { return false };
        *self.0.damaged_thread.lock().unwrap() = Some((*thread).into());
        true
    }
}

/// Checks that a case passes without the fault and fails with it.
#[track_caller]
fn check(fault: Fault, area: &str, case: &str) {
    let sound = block_on(run(area, case, &FaultyTestStore(Faulty::new(Fault::None))));
    assert_eq!(sound, Ok(()));
    let broken = block_on(run(area, case, &FaultyTestStore(Faulty::new(fault))));
    assert!(broken.is_err(), "{area}::{case} does not detect the fault {fault:?}");
}

macro_rules! faults {
    ($($fault:ident => $area:ident :: $case:ident)*) => {$(
        mod $case {
            #[test]
            #[expect(non_snake_case, reason = "the test has the name of the fault")]
            fn $fault() {
                super::check(super::Fault::$fault, stringify!($area), stringify!($case));
            }
        }
    )*};
}

faults! {
    LetsTheLastWriterWin => commit::one_of_two_writers_wins
    ChecksBeforeItWrites => commit::one_of_many_concurrent_writers_wins
    IgnoresEpochs => commit::higher_epoch_stops_the_older_run
    IgnoresHeads => commit::commit_requires_matching_epoch_and_head
    RoundsEpochs => commit::epoch_may_be_large
    AllowsDecreasingEpochs => commit::epoch_never_decreases
    IgnoresOrigins => commit::different_origin_is_a_conflict
    SwallowsConflicts => commit::repeated_batch_is_a_conflict
    RoundsTimesToSeconds => commit::time_before_1970_is_stored
    WritesOneByOne => atomic::invalid_write_rejects_the_whole_batch
    ComparesIdsAsSigned => atomic::new_id_must_sort_after_all_others
    AcceptsAnyParent => atomic::parent_must_exist
    AcceptsAnyRecord => atomic::records_require_an_existing_checkpoint
    FindsSimilarIds => get::get_finds_exact_ids_only
    ReturnsTheFenceOfTheReadCheckpoint => get::get_reads_the_head_by_default
    ForgetsRecordsOfOldCheckpoints => records::records_belong_to_one_checkpoint
    RemovesAfterPutting => records::records_are_put_replaced_and_removed
    OrdersRecordsByKey => records::records_are_ordered_by_task_kind_and_key
    TrimsNames => names::thread_may_have_any_name
    IgnoresCase => names::namespace_may_have_any_name
    CutsNamesAtNul => names::fields_and_records_may_have_any_name
    ForgetsEncodings => payloads::value_keeps_encoding_and_bytes
    RewritesJson => payloads::deltas_keep_different_encodings
    TruncatesLongValues => payloads::payload_of_a_megabyte_is_stored
    KeepsOneChangePerField => fields::changes_of_one_checkpoint_keep_their_order
    ForgetsOldFields => fields::field_written_long_ago_is_still_read
    IgnoresParents => fields::branches_do_not_see_each_other
    SkipsTheNewestDelta => fields::every_checkpoint_of_a_long_branch_reads_unchanged
    ComparesLoosely => list::filters_compare_values_strictly
    FiltersAfterTheLimit => list::filters_can_be_combined_and_paged
    NeverReturnsMore => list::pages_cover_the_list_without_gaps_or_repeats
    ListsNewestFirstOnly => list::lists_may_begin_at_the_oldest_checkpoint
    RequiresAnExistingBefore => list::before_accepts_ids_that_do_not_exist
    TreatsPrefixesAsPatterns => threads::threads_are_paged_in_byte_order
    CountsEveryThreadAsUnfinished => status::unfinished_threads_are_listed_by_name
    IgnoresStatus => status::changed_status_moves_the_thread
    WritesTheStatusFirst => status::refused_batch_keeps_the_status
    ForgetsWakeUpTimes => status::status_is_written_with_its_batch
    ListsDueThreadsByName => status::due_threads_are_listed_by_time
    ReadsEveryThread => status::cost_of_a_list_follows_its_length
    FailsTheListForOneDamagedThread => corruption::damaged_thread_hides_no_other_thread
    CopiesByReference => copy::copy_and_original_are_independent
    CopiesOverOthers => copy::copy_never_overwrites_a_thread
    DeletesNothing => delete::delete_removes_the_whole_thread
    DeletesAnyEpoch => delete::delete_requires_the_named_epoch
    CopiesAnyEpoch => copy::copy_requires_the_named_epoch
    RollsBackNothing => roll_back::roll_back_removes_later_checkpoints
    RollsBackTheWrongNamespace => roll_back::roll_back_is_one_of_the_writes_of_its_batch
    ForgetsHeadsOfNamespaces => namespaces::namespaces_are_listed_with_their_heads
    FindsAnyRequest => requests::requests_are_found_by_their_exact_key
    ForgetsRequestsOfCopies => requests::removed_requests_are_not_found
    ReturnsIncompleteHistories => history::history_equals_its_checkpoints
    ReturnsQuadraticHistories => history::size_of_a_history_is_linear
    ListsThreadsOfAnyKind => status::threads_are_listed_by_their_kinds
    ListsNewestThreadsByName => status::threads_are_listed_newest_first
    IgnoresMetadataOfThreads => status::threads_are_listed_by_metadata
    DropsOpenInterrupts => prune::leaf_with_open_interrupt_is_not_pruned
    DropsRetainedCheckpoints => prune::retained_checkpoints_are_not_pruned
    DropsOnOneCondition => prune::older_than_drops_only_older_checkpoints
    DropsChangesWithCheckpoints => prune::remaining_checkpoints_read_unchanged
    PrunesNothing => prune::keep_last_keeps_the_newest
    ReordersCommits => concurrency::commits_follow_the_order_of_first_polls
    StopsHalfway => cancellation::dropped_commit_is_all_or_nothing
    ForgetsWhenClosed => durability::acknowledged_commits_survive_a_reopen
    AcknowledgesTooEarly => model::random_histories_match_the_model
    AcknowledgesRefusedWrites => limits::metadata_over_the_limits_are_refused
    AcknowledgesRefusedWrites => limits::names_over_the_length_limit_are_refused
    AcknowledgesRefusedWrites => limits::payloads_over_the_size_limit_are_refused
    ClaimsTheEpochOfRefusedWrites => limits::lists_over_the_size_limit_are_refused
    RoundsMetadata => limits::metadata_within_the_limits_are_read_back
    TruncatesMetadata => limits::metadata_at_the_size_limit_are_read_back
    TruncatesLongNames => limits::names_at_the_length_limit_are_stored
    ReadsTheWholeHistory => scale::cost_does_not_grow_with_the_history
}
