//! The cases, by area. The list is in [`__model_cases!`](crate::__model_cases).

pub(super) mod cancellation;
pub(super) mod failures;
pub(super) mod replies;
pub(super) mod streams;

/// Passes the list of all cases to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __model_cases {
    ($then:ident ($($with:tt)*)) => {
        $crate::$then! { ($($with)*)
            replies {
                text_is_unchanged
                empty_reply_is_a_reply
                reasoning_is_separate_from_the_text
                signed_thinking_can_be_sent_back
                redacted_thinking_can_be_sent_back
                thinking_between_texts_keeps_its_place
                calls_have_their_arguments
                calls_keep_their_other_fields
                unreadable_arguments_make_an_invalid_call
                usage_is_reported
                usage_has_its_details
            }
            streams {
                interleaved_pieces_reach_their_calls
                empty_pieces_change_nothing
                packets_may_end_within_a_character
                every_piece_of_text_can_be_shown
            }
            failures {
                reply_that_is_cut_off_is_an_error
                refusal_has_its_status_and_wait
            }
            cancellation {
                dropped_stream_closes_the_connection
                dropped_request_closes_the_connection
            }
        }
    };
}
