//! The cases, by what they are about. [`__cases!`](crate::__cases) is their list: a case that is not in it is dead code.

pub(crate) mod atomic;
pub(crate) mod commit;
pub(crate) mod copy;
pub(crate) mod damaged;
pub(crate) mod delete;
pub(crate) mod dropped;
pub(crate) mod fields;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod model;
pub(crate) mod names;
pub(crate) mod payloads;
pub(crate) mod prune;
pub(crate) mod records;
pub(crate) mod reopened;
pub(crate) mod scale;
pub(crate) mod threads;
pub(crate) mod together;

/// Gives the list of all cases to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __cases {
    ($then:ident ($($with:tt)*)) => {
        $crate::$then! { ($($with)*)
            commit {
                the_first_commit_makes_the_thread
                a_checkpoint_is_read_back_as_it_was_written
                a_time_before_1970_is_kept
                of_two_writers_of_one_head_one_wins
                of_many_writers_at_once_one_wins
                an_epoch_and_a_head_must_both_be_right
                a_raised_epoch_stops_the_older_run
                an_epoch_may_be_large
                an_epoch_never_goes_back
                the_epoch_is_the_threads_and_the_head_the_namespaces
                the_same_id_may_be_in_two_namespaces
                the_same_batch_again_is_a_conflict
                a_thread_of_another_origin_is_another_thread
            }
            atomic {
                ids_sort_behind_the_greatest
                a_parent_must_be_there
                records_are_of_a_checkpoint_that_is_there
                a_bad_write_takes_the_whole_batch_with_it
                a_batch_may_add_several_checkpoints
            }
            get {
                what_is_not_there_is_no_error
                the_head_is_read_unless_another_is_named
                an_id_is_looked_for_exactly
                a_read_is_of_one_moment
            }
            records {
                records_are_put_replaced_and_removed
                records_are_ordered_by_task_kind_and_key
                records_are_of_one_checkpoint
                records_may_come_with_the_next_checkpoint
                a_record_keeps_its_payload_whatever_it_is
                many_records_are_kept
            }
            names {
                a_thread_has_any_name
                a_namespace_has_any_name
                fields_and_records_have_any_name
                runs_and_nodes_have_any_name
                metadata_have_any_key
            }
            payloads {
                a_value_keeps_encoding_and_bytes
                deltas_of_every_encoding_stand_side_by_side
                a_megabyte_is_kept
                of_a_longer_buffer_only_the_part_is_kept
            }
            fields {
                deltas_follow_the_last_whole_value
                pieces_of_one_checkpoint_are_in_order
                a_piece_says_which_checkpoint_wrote_it
                a_field_written_long_ago_is_still_there
                every_checkpoint_of_a_long_line_reads_as_it_was
                a_thousand_deltas_come_back_in_order
                many_fields_are_kept_apart
                branches_do_not_see_each_other
                an_update_of_an_old_checkpoint_begins_a_branch
                a_checkpoint_without_parent_begins_anew
                branches_of_branches_read_through_all_of_them
                a_checkpoint_that_writes_nothing_sees_everything
            }
            list {
                checkpoints_are_listed_newest_first
                pages_go_to_the_end_without_gap_or_repeat
                before_is_a_place_not_a_checkpoint
                filters_compare_values_strictly
                filters_can_be_combined_and_paged
            }
            threads {
                threads_are_listed_with_epoch_and_head
                threads_are_paged_in_the_order_of_their_bytes
                unfinished_threads_have_something_left_to_run
                a_thread_to_which_a_node_was_added_is_unfinished
            }
            copy {
                a_copy_has_everything
                a_copy_and_its_original_go_on_apart
                a_copy_takes_no_others_place
            }
            delete {
                nothing_of_a_deleted_thread_is_left
                a_deleted_thread_can_begin_anew
                a_writer_of_a_deleted_thread_is_stopped
            }
            prune {
                only_the_newest_are_kept
                only_older_ones_are_dropped
                what_remains_reads_as_before
                branches_survive_what_they_come_from
                a_dropped_end_of_a_branch_is_not_in_the_way
                an_unanswered_question_stays
                pruning_disturbs_no_writer
                what_is_needed_stays
                a_copy_can_be_pruned_alone
            }
            together {
                a_hundred_threads_lose_nothing
                commits_are_made_in_the_order_of_their_first_poll
                two_handles_are_one_store
                readers_and_writers_do_not_wait_for_each_other_for_ever
            }
            dropped {
                a_dropped_commit_is_whole_or_nothing
                a_dropped_read_disturbs_nothing
                a_dropped_delete_or_copy_is_whole_or_nothing
            }
            reopened {
                what_was_acknowledged_is_found_after_each_call
                what_was_done_to_threads_is_found_again
                what_was_refused_is_not_found_again
            }
            damaged {
                spoilt_pieces_are_an_error
                a_spoilt_checkpoint_is_an_error
                a_spoilt_record_is_an_error
                a_spoilt_run_is_an_error
                a_spoilt_thread_hides_no_other_from_the_list
            }
            model {
                random_histories_are_as_in_the_model
            }
            scale {
                ten_thousand_checkpoints_cost_no_more_each
                a_read_costs_what_it_gives
            }
        }
    };
}
