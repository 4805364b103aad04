//! The cases, by what they are about. [`__store_cases!`](crate::__store_cases) is their list: a case that is not in it is dead
//! code.

pub(crate) mod damage;
pub(crate) mod filters;
pub(crate) mod handles;
pub(crate) mod items;
pub(crate) mod lifetimes;
pub(crate) mod listed;
pub(crate) mod nearest;
pub(crate) mod places;
pub(crate) mod random;
pub(crate) mod searched;

/// Gives the list of all cases of long-term stores to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __store_cases {
    ($then:ident ($($with:tt)*)) => {
        $crate::$then! { ($($with)*)
            items {
                what_is_not_there_is_no_error
                an_item_is_read_back_as_it_was_written
                an_overwrite_keeps_when_it_was_created
                an_item_that_was_deleted_is_created_anew
                times_are_kept_to_the_millisecond
                items_are_read_in_the_order_in_which_they_are_named
                a_batch_is_made_in_its_order
                a_value_of_two_megabytes_is_kept
                many_items_are_kept
            }
            places {
                no_namespace_is_taken_for_another
                a_prefix_is_of_whole_segments
                segments_and_keys_are_any_text
            }
            searched {
                what_is_found_is_in_the_order_of_names
                the_newest_come_first_where_that_is_asked
                pages_have_neither_gap_nor_repeat
                what_is_further_in_can_be_left_out
            }
            filters {
                filters_compare_types_strictly
                numbers_are_compared_without_loss
                null_is_not_a_missing_field
                only_what_is_of_one_type_is_greater_or_less
                names_of_fields_are_not_taken_apart
                all_filters_must_be_fulfilled
                filters_come_before_pages
                bytes_have_no_fields
                a_filter_is_never_a_statement
            }
            lifetimes {
                what_has_expired_is_not_there
                what_has_expired_is_created_anew
                a_put_takes_the_place_of_a_lifetime
                what_is_refreshed_lives_on
                a_refresh_never_shortens_a_life
                a_search_refreshes_what_it_gives
                a_sweep_takes_what_has_expired_and_nothing_else
                what_expires_does_not_fill_the_store
            }
            listed {
                namespaces_are_listed_in_their_order
                namespaces_are_listed_by_their_ends
                namespaces_are_cut_to_a_depth_once
                namespaces_are_paged
                a_namespace_without_items_is_not_listed
            }
            nearest {
                the_nearest_come_first
                what_is_equally_near_is_in_the_order_asked_for
                the_nearest_vector_of_an_item_counts
                what_has_no_embedding_is_not_found_by_one
                the_nearest_are_filtered_and_paged
                vectors_of_two_models_are_never_compared
            }
            handles {
                writers_at_once_lose_nothing
                a_batch_is_seen_whole_or_not_at_all
                two_open_handles_are_one_store
                a_dropped_write_is_whole_or_nothing_at_all
                what_was_written_is_there_when_it_is_opened_again
            }
            damage {
                a_spoilt_value_is_an_error_that_names_it
                a_spoilt_embedding_is_an_error_that_names_it
            }
            random {
                random_calls_are_answered_as_in_the_model
            }
        }
    };
}
