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
    LetsTheLastWriterWin => commit::of_two_writers_of_one_head_one_wins
    ChecksBeforeItWrites => commit::of_many_writers_at_once_one_wins
    IgnoresEpochs => commit::a_raised_epoch_stops_the_older_run
    IgnoresHeads => commit::an_epoch_and_a_head_must_both_be_right
    RoundsEpochs => commit::an_epoch_may_be_large
    LetsEpochsGoBack => commit::an_epoch_never_goes_back
    IgnoresOrigins => commit::a_thread_of_another_origin_is_another_thread
    SwallowsConflicts => commit::the_same_batch_again_is_a_conflict
    CountsInSeconds => commit::a_time_before_1970_is_kept
    WritesOneByOne => atomic::a_bad_write_takes_the_whole_batch_with_it
    ComparesIdsWithASign => atomic::ids_sort_behind_the_greatest
    TakesAnyParent => atomic::a_parent_must_be_there
    TakesAnyRecord => atomic::records_are_of_a_checkpoint_that_is_there
    FindsWhatIsNear => get::an_id_is_looked_for_exactly
    TellsTheFenceOfWhatIsRead => get::the_head_is_read_unless_another_is_named
    ForgetsRecordsOfOldCheckpoints => records::records_are_of_one_checkpoint
    RemovesAfterPutting => records::records_are_put_replaced_and_removed
    OrdersRecordsByKey => records::records_are_ordered_by_task_kind_and_key
    TrimsNames => names::a_thread_has_any_name
    IgnoresCase => names::a_namespace_has_any_name
    EndsNamesAtNul => names::fields_and_records_have_any_name
    ForgetsEncodings => payloads::a_value_keeps_encoding_and_bytes
    RewritesJson => payloads::deltas_of_every_encoding_stand_side_by_side
    CutsOffLongValues => payloads::a_megabyte_is_kept
    KeepsOnePieceOfACheckpoint => fields::pieces_of_one_checkpoint_are_in_order
    ForgetsOldFields => fields::a_field_written_long_ago_is_still_there
    IgnoresParents => fields::branches_do_not_see_each_other
    SkipsTheNewestDelta => fields::every_checkpoint_of_a_long_line_reads_as_it_was
    ComparesLoosely => list::filters_compare_values_strictly
    FiltersAfterTheLimit => list::filters_can_be_combined_and_paged
    NeverSaysThatThereIsMore => list::pages_go_to_the_end_without_gap_or_repeat
    LooksForTheCheckpointBefore => list::before_is_a_place_not_a_checkpoint
    TakesPrefixesForPatterns => threads::threads_are_paged_in_the_order_of_their_bytes
    CountsEveryThreadAsUnfinished => threads::unfinished_threads_have_something_left_to_run
    HidesAllBehindASpoiltThread => damaged::a_spoilt_thread_hides_no_other_from_the_list
    OverlooksNodesThatWereAdded => threads::a_thread_to_which_a_node_was_added_is_unfinished
    CopiesByReference => copy::a_copy_and_its_original_go_on_apart
    CopiesOverOthers => copy::a_copy_takes_no_others_place
    DeletesNothing => delete::nothing_of_a_deleted_thread_is_left
    DropsQuestions => prune::an_unanswered_question_stays
    DropsWhatIsNeeded => prune::what_is_needed_stays
    DropsWhatFulfilsOneCondition => prune::only_older_ones_are_dropped
    DropsPiecesWithCheckpoints => prune::what_remains_reads_as_before
    KeepsEverything => prune::only_the_newest_are_kept
    WritesInAnyOrder => together::commits_are_made_in_the_order_of_their_first_poll
    StopsHalfway => dropped::a_dropped_commit_is_whole_or_nothing
    ForgetsWhenClosed => reopened::what_was_acknowledged_is_found_after_each_call
    AcknowledgesTooEarly => model::random_histories_are_as_in_the_model
    LooksAtTheWholeHistory => scale::ten_thousand_checkpoints_cost_no_more_each
}
