//! The cases, by what they are about. [`__cache_cases!`](crate::__cache_cases) is their list: a case that is not in it is dead
//! code.

pub(crate) mod clearing;
pub(crate) mod damage;
pub(crate) mod handles;
pub(crate) mod lifetimes;
pub(crate) mod names;
pub(crate) mod results;

/// Gives the list of all cases of caches to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __cache_cases {
    ($then:ident ($($with:tt)*)) => {
        $crate::$then! { ($($with)*)
            results {
                what_was_not_put_is_not_there
                a_result_is_given_back_as_it_was_put
                a_put_takes_the_place_of_the_one_before
                puts_are_made_in_their_order
                a_result_of_two_megabytes_is_kept
            }
            names {
                no_name_is_taken_for_another
                names_are_any_text
                a_long_key_is_kept_whole
            }
            lifetimes {
                what_has_expired_is_not_there
                what_a_clock_that_is_ahead_has_put_is_not_there_yet
                without_a_time_to_live_it_is_always_there
                a_put_takes_the_place_of_a_lifetime
                what_expires_does_not_fill_the_cache
            }
            clearing {
                all_is_cleared
                a_graph_is_cleared_and_nothing_else
                a_node_is_cleared_and_nothing_else
                what_has_expired_is_cleared_and_nothing_else
            }
            handles {
                writers_at_once_lose_nothing
                puts_are_seen_together_or_not_at_all
                two_open_handles_are_one_cache
                a_dropped_put_is_whole_or_nothing_at_all
                what_was_put_is_there_when_it_is_opened_again
            }
            damage {
                a_spoilt_result_is_an_error_that_names_it
            }
        }
    };
}
