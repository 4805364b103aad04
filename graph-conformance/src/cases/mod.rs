//! The cases for checkpoint stores, by area. The list is in [`__cases!`](crate::__cases).

pub(crate) mod atomic;
pub(crate) mod cancellation;
pub(crate) mod commit;
pub(crate) mod concurrency;
pub(crate) mod copy;
pub(crate) mod corruption;
pub(crate) mod delete;
pub(crate) mod durability;
pub(crate) mod fields;
pub(crate) mod get;
pub(crate) mod history;
pub(crate) mod limits;
pub(crate) mod list;
pub(crate) mod model;
pub(crate) mod names;
pub(crate) mod namespaces;
pub(crate) mod payloads;
pub(crate) mod prune;
pub(crate) mod records;
pub(crate) mod requests;
pub(crate) mod roll_back;
pub(crate) mod scale;
pub(crate) mod status;
pub(crate) mod threads;

/// Passes the list of all cases to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __cases {
    ($then:ident ($($with:tt)*)) => {
        $crate::$then! { ($($with)*)
            commit {
                first_commit_creates_the_thread
                checkpoint_reads_back_unchanged
                time_before_1970_is_stored
                one_of_two_writers_wins
                one_of_many_concurrent_writers_wins
                commit_requires_matching_epoch_and_head
                higher_epoch_stops_the_older_run
                epoch_may_be_large
                epoch_never_decreases
                epoch_is_per_thread_and_head_per_namespace
                two_namespaces_may_have_the_same_id
                repeated_batch_is_a_conflict
                different_origin_is_a_conflict
            }
            atomic {
                new_id_must_sort_after_all_others
                parent_must_exist
                records_require_an_existing_checkpoint
                invalid_write_rejects_the_whole_batch
                batch_may_add_several_checkpoints
            }
            get {
                missing_checkpoint_is_not_an_error
                get_reads_the_head_by_default
                get_finds_exact_ids_only
                get_reads_one_moment
            }
            records {
                records_are_put_replaced_and_removed
                records_are_ordered_by_task_kind_and_key
                records_belong_to_one_checkpoint
                batch_may_mix_records_and_checkpoints
                record_keeps_any_payload
                checkpoint_keeps_many_records
            }
            names {
                thread_may_have_any_name
                namespace_may_have_any_name
                fields_and_records_may_have_any_name
                runs_and_nodes_may_have_any_name
                metadata_may_have_any_key
            }
            payloads {
                value_keeps_encoding_and_bytes
                deltas_keep_different_encodings
                payload_of_a_megabyte_is_stored
                only_the_range_of_a_shared_buffer_is_stored
            }
            fields {
                deltas_follow_the_last_whole_value
                changes_of_one_checkpoint_keep_their_order
                change_names_the_checkpoint_that_wrote_it
                field_written_long_ago_is_still_read
                every_checkpoint_of_a_long_branch_reads_unchanged
                thousand_deltas_are_read_in_order
                many_fields_stay_separate
                branches_do_not_see_each_other
                child_of_an_old_checkpoint_starts_a_branch
                checkpoint_without_parent_sees_no_earlier_values
                nested_branches_read_through_their_ancestors
                checkpoint_without_changes_sees_all_fields
            }
            list {
                checkpoints_are_listed_newest_first
                pages_cover_the_list_without_gaps_or_repeats
                lists_may_begin_at_the_oldest_checkpoint
                before_accepts_ids_that_do_not_exist
                filters_compare_values_strictly
                filters_can_be_combined_and_paged
            }
            history {
                history_equals_its_checkpoints
                history_follows_branches
                history_has_the_conditions_of_a_list
                history_may_have_any_names
                size_of_a_history_is_linear
            }
            requests {
                requests_are_found_by_their_exact_key
                request_can_be_combined_with_other_conditions
                removed_requests_are_not_found
                cost_of_a_request_does_not_grow
            }
            namespaces {
                namespaces_are_listed_with_their_heads
                namespaces_are_paged_in_byte_order
            }
            roll_back {
                roll_back_removes_later_checkpoints
                roll_back_cuts_compacted_changes
                roll_back_removes_all_branches
                roll_back_to_nothing_keeps_the_thread
                roll_back_is_one_of_the_writes_of_its_batch
                roll_back_ends_at_an_existing_checkpoint
                roll_back_is_fenced
                roll_back_may_have_nothing_to_remove
                roll_back_takes_only_the_named_namespace
                removed_runs_are_not_found
                pruned_namespace_is_rolled_back
                copies_are_rolled_back_separately
                roll_backs_survive_a_reopen
            }
            threads {
                threads_are_listed_with_epoch_and_head
                threads_are_paged_in_byte_order
            }
            status {
                status_is_written_with_its_batch
                refused_batch_keeps_the_status
                unfinished_threads_are_listed_by_name
                due_threads_are_listed_by_time
                changed_status_moves_the_thread
                threads_are_listed_by_their_kinds
                threads_are_listed_newest_first
                threads_are_listed_by_metadata
                cost_of_a_list_follows_its_length
            }
            copy {
                copy_is_complete
                copy_and_original_are_independent
                copy_never_overwrites_a_thread
                copy_requires_the_named_epoch
            }
            delete {
                delete_removes_the_whole_thread
                deleted_thread_can_be_created_again
                delete_stops_the_writers_of_the_thread
                delete_requires_the_named_epoch
            }
            limits {
                metadata_within_the_limits_are_read_back
                metadata_at_the_size_limit_are_read_back
                metadata_over_the_limits_are_refused
                names_at_the_length_limit_are_stored
                names_over_the_length_limit_are_refused
                payloads_over_the_size_limit_are_refused
                lists_over_the_size_limit_are_refused
            }
            prune {
                keep_last_keeps_the_newest
                older_than_drops_only_older_checkpoints
                remaining_checkpoints_read_unchanged
                branches_survive_their_pruned_ancestors
                pruned_branch_leaves_nothing_behind
                leaf_with_open_interrupt_is_not_pruned
                prune_does_not_disturb_writers
                retained_checkpoints_are_not_pruned
                copies_are_pruned_separately
            }
            concurrency {
                hundred_concurrent_threads_lose_nothing
                commits_follow_the_order_of_first_polls
                two_handles_share_one_store
                readers_and_writers_do_not_deadlock
            }
            cancellation {
                dropped_commit_is_all_or_nothing
                dropped_roll_back_is_all_or_nothing
                dropped_read_has_no_effect
                dropped_delete_and_copy_are_all_or_nothing
            }
            durability {
                acknowledged_commits_survive_a_reopen
                copies_deletions_and_prunes_survive_a_reopen
                refused_batches_never_appear_after_a_reopen
            }
            corruption {
                damaged_changes_are_an_error
                damaged_checkpoint_is_an_error
                damaged_record_is_an_error
                damaged_run_is_an_error
                damaged_thread_hides_no_other_thread
            }
            model {
                random_histories_match_the_model
            }
            scale {
                cost_does_not_grow_with_the_history
                cost_of_a_read_follows_its_size
                cost_of_a_roll_back_follows_its_size
            }
        }
    };
}
