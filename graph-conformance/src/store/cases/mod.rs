//! The cases for long-term stores, by area. The list is in [`__store_cases!`](crate::__store_cases).

pub(crate) mod corruption;
pub(crate) mod filters;
pub(crate) mod handles;
pub(crate) mod items;
pub(crate) mod limits;
pub(crate) mod model;
pub(crate) mod namespace_lists;
pub(crate) mod namespaces;
pub(crate) mod search;
pub(crate) mod semantic_search;
pub(crate) mod ttl;

/// Passes the list of all cases to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __store_cases {
    ($then:ident ($($with:tt)*)) => {
        $crate::$then! { ($($with)*)
            items {
                missing_item_is_not_an_error
                item_reads_back_unchanged
                overwrite_keeps_the_creation_time
                deleted_item_gets_a_new_creation_time
                times_have_millisecond_precision
                items_are_read_in_the_order_of_the_keys
                batch_is_written_in_order
                value_of_two_megabytes_is_stored
                store_keeps_many_items
            }
            namespaces {
                similar_namespaces_are_distinct
                prefix_matches_whole_segments
                segments_and_keys_may_be_any_string
            }
            limits {
                names_at_the_length_limit_are_stored
                items_over_the_limits_are_refused
            }
            search {
                search_returns_items_in_name_order
                newest_order_returns_the_newest_first
                pages_have_no_gaps_or_repeats
                search_continues_after_a_name
                nested_namespaces_can_be_excluded
            }
            filters {
                filters_compare_types_strictly
                numbers_are_compared_without_loss
                null_is_not_a_missing_field
                ordering_requires_equal_types
                field_names_are_not_split
                item_must_meet_all_filters
                filters_apply_before_paging
                bytes_have_no_fields
                filter_text_is_never_executed
            }
            ttl {
                expired_item_does_not_exist
                put_after_expiry_creates_a_new_item
                put_replaces_the_time_to_live
                refresh_restarts_the_time_to_live
                refresh_never_makes_an_item_expire_earlier
                search_refreshes_only_returned_items
                sweep_removes_exactly_the_expired_items
                expired_items_do_not_fill_the_store
            }
            namespace_lists {
                namespaces_are_listed_in_order
                namespaces_are_listed_by_suffix
                max_depth_lists_each_prefix_once
                namespaces_are_paged
                empty_namespace_is_not_listed
            }
            semantic_search {
                nearest_items_come_first
                equally_near_items_are_in_the_requested_order
                nearest_vector_of_an_item_decides
                item_without_embedding_is_not_found
                semantic_search_is_filtered_and_paged
                vectors_of_two_models_are_never_compared
            }
            handles {
                concurrent_writers_lose_nothing
                batch_becomes_visible_as_a_whole
                two_handles_share_one_store
                dropped_write_is_all_or_nothing
                writes_survive_a_reopen
            }
            corruption {
                damaged_value_is_an_error_that_names_the_item
                damaged_embedding_is_an_error_that_names_the_item
            }
            model {
                random_calls_match_the_model
            }
        }
    };
}
