//! The cases for caches, by area. The list is in [`__cache_cases!`](crate::__cache_cases).

pub(crate) mod clear;
pub(crate) mod corruption;
pub(crate) mod handles;
pub(crate) mod limits;
pub(crate) mod names;
pub(crate) mod results;
pub(crate) mod ttl;

/// Passes the list of all cases to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __cache_cases {
    ($then:ident ($($with:tt)*)) => {
        $crate::$then! { ($($with)*)
            results {
                missing_result_is_none
                result_reads_back_unchanged
                put_replaces_the_previous_result
                puts_are_made_in_order
                result_of_two_megabytes_is_stored
            }
            names {
                similar_keys_are_distinct
                names_may_be_any_string
                long_keys_are_not_truncated
            }
            limits {
                names_at_the_length_limit_are_stored
                results_over_the_limits_are_refused
            }
            ttl {
                expired_result_is_not_found
                result_is_not_found_before_its_put_time
                result_without_ttl_never_expires
                put_replaces_the_time_to_live
                expired_results_do_not_fill_the_cache
            }
            clear {
                clear_all_removes_everything
                clear_graph_removes_only_its_results
                clear_node_removes_only_its_results
                clear_expired_removes_only_expired_results
            }
            handles {
                concurrent_writers_lose_nothing
                puts_become_visible_together
                two_handles_share_one_cache
                dropped_put_is_all_or_nothing
                results_survive_a_reopen
            }
            corruption {
                damaged_result_is_an_error_that_names_the_entry
            }
        }
    };
}
