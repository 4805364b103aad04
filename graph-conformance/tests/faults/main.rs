//! The suite finds what is wrong: each fault that a store could have breaks the case that is there for it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a faulty store may fail its test as the test itself does"
)]

mod fault;
mod faulty;
mod spoil;

use superstep_conformance::{Damage, Place, block_on, run};
use superstep_store::checkpoint::CheckpointError;

use fault::Fault;
use faulty::Faulty;

struct Here(Faulty);

impl Place for Here {
    type Store = Faulty;

    async fn open(&self) -> Result<Faulty, CheckpointError> {
        Ok(if self.0.fault == Fault::ForgetsWhenClosed { Faulty::new(self.0.fault) } else { self.0.clone() })
    }

    async fn damage(&self, damage: &Damage<'_>) -> bool {
        let Damage::OneThread { thread } = damage else { return false };
        *self.0.spoilt.lock().unwrap() = Some((*thread).into());
        true
    }
}

/// A case passes without a fault, and does not with it.
#[track_caller]
fn check(fault: Fault, area: &str, case: &str) {
    let sound = block_on(run(area, case, &Here(Faulty::new(Fault::None))));
    assert_eq!(sound, Ok(()));
    let broken = block_on(run(area, case, &Here(Faulty::new(fault))));
    assert!(broken.is_err(), "{area}::{case} does not notice that a store {fault:?}");
}

macro_rules! faults {
    ($($fault:ident => $area:ident :: $case:ident)*) => {$(
        mod $case {
            #[test]
            #[expect(non_snake_case, reason = "it is the name of the fault")]
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
    LetsEpochsGoBack => commit::epoch_never_decreases
    IgnoresOrigins => commit::different_origin_is_a_conflict
    SwallowsConflicts => commit::repeated_batch_is_a_conflict
    CountsInSeconds => commit::time_before_1970_is_stored
    WritesOneByOne => atomic::invalid_write_rejects_the_whole_batch
    ComparesIdsWithASign => atomic::new_id_must_sort_after_all_others
    TakesAnyParent => atomic::parent_must_exist
    TakesAnyRecord => atomic::records_require_an_existing_checkpoint
    FindsWhatIsNear => get::get_finds_exact_ids_only
    TellsTheFenceOfWhatIsRead => get::get_reads_the_head_by_default
    ForgetsRecordsOfOldCheckpoints => records::records_belong_to_one_checkpoint
    RemovesAfterPutting => records::records_are_put_replaced_and_removed
    OrdersRecordsByKey => records::records_are_ordered_by_task_kind_and_key
    TrimsNames => names::thread_may_have_any_name
    IgnoresCase => names::namespace_may_have_any_name
    EndsNamesAtNul => names::fields_and_records_may_have_any_name
    ForgetsEncodings => payloads::value_keeps_encoding_and_bytes
    RewritesJson => payloads::deltas_keep_different_encodings
    CutsOffLongValues => payloads::payload_of_a_megabyte_is_stored
    KeepsOnePieceOfACheckpoint => fields::changes_of_one_checkpoint_keep_their_order
    ForgetsOldFields => fields::field_written_long_ago_is_still_read
    IgnoresParents => fields::branches_do_not_see_each_other
    SkipsTheNewestDelta => fields::every_checkpoint_of_a_long_branch_reads_unchanged
    ComparesLoosely => list::filters_compare_values_strictly
    FiltersAfterTheLimit => list::filters_can_be_combined_and_paged
    NeverSaysThatThereIsMore => list::pages_cover_the_list_without_gaps_or_repeats
    LooksForTheCheckpointBefore => list::before_accepts_ids_that_do_not_exist
    TakesPrefixesForPatterns => threads::threads_are_paged_in_byte_order
    CountsEveryThreadAsUnfinished => threads::unfinished_threads_have_pending_tasks
    HidesAllBehindASpoiltThread => corruption::damaged_thread_hides_no_other_thread
    OverlooksNodesThatWereAdded => threads::thread_with_an_added_node_is_unfinished
    CopiesByReference => copy::copy_and_original_are_independent
    CopiesOverOthers => copy::copy_never_overwrites_a_thread
    DeletesNothing => delete::delete_removes_the_whole_thread
    DropsQuestions => prune::open_interrupts_are_never_pruned
    DropsWhatIsNeeded => prune::retained_checkpoints_are_not_pruned
    DropsWhatFulfilsOneCondition => prune::older_than_drops_only_older_checkpoints
    DropsPiecesWithCheckpoints => prune::remaining_checkpoints_read_unchanged
    KeepsEverything => prune::keep_last_keeps_the_newest
    WritesInAnyOrder => concurrency::commits_follow_the_order_of_first_polls
    StopsHalfway => cancellation::dropped_commit_is_all_or_nothing
    ForgetsWhenClosed => durability::acknowledged_commits_survive_a_reopen
    AcknowledgesTooEarly => model::random_histories_match_the_model
    LooksAtTheWholeHistory => scale::cost_does_not_grow_with_the_history
}
