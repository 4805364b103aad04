use super::super::state::{HistoryPage, StateQuery, Updated};
use super::super::state_json::ThreadState;
use super::super::thread_events::ThreadStreamQuery;
use super::super::thread_json::ThreadJson;
use super::super::threads::{Pruned, ThreadQuery};
use super::Described;
use super::assistants::pages;
use super::events::{protocol_event, thread_event};
use super::selected::Selected;
use crate::protocol::{
    CommandFailure, CommandResponse, HistoryRequest, MetadataPatch, StateAt, StateUpdate, ThreadCommand,
    ThreadCreate, ThreadFilter, ThreadPatch, ThreadPrune, ThreadSearch,
};
use crate::thread_stream::Subscription;

pub(super) const ROUTES: &[Described] = &[
    ("POST", "/threads", "create_thread", |op| {
        op.body::<ThreadCreate>().ok::<ThreadJson<'_>>("The thread.");
        op.error(409, "There is a thread with this id.");
    }),
    ("POST", "/threads/search", "search_threads", |op| {
        op.body::<ThreadSearch>().ok::<Vec<Selected<ThreadJson<'_>>>>("The threads of the page.");
        pages(op);
    }),
    ("POST", "/threads/count", "count_threads", |op| {
        op.body::<ThreadFilter>().ok::<usize>("The number of threads.");
    }),
    ("POST", "/threads/prune", "prune_threads", |op| {
        op.body::<ThreadPrune>().ok::<Pruned>("The number of threads that were pruned.");
    }),
    ("GET", "/threads/{thread}", "get_thread", |op| {
        op.query::<ThreadQuery>().ok::<ThreadJson<'_>>("The thread.");
    }),
    ("PATCH", "/threads/{thread}", "update_thread", |op| {
        op.request_header("Prefer", "`return=minimal` for a response without the thread.");
        op.body::<ThreadPatch>().ok::<ThreadJson<'_>>("The thread.");
        op.empty(204, "The thread is changed, and the client does not want it.");
    }),
    ("DELETE", "/threads/{thread}", "delete_thread", |op| {
        op.empty(204, "The thread is deleted.");
    }),
    ("POST", "/threads/{thread}/copy", "copy_thread", |op| {
        op.ok::<ThreadJson<'_>>("The copy.");
        op.error(409, "The thread is busy with a run.");
    }),
    ("GET", "/threads/{thread}/state", "get_thread_state", |op| {
        op.query::<StateQuery>().ok::<ThreadState>("The state. A thread that has not run has an empty one.");
    }),
    ("POST", "/threads/{thread}/state", "update_thread_state", |op| {
        op.body::<StateUpdate>().ok::<Updated>("The new checkpoint.");
        op.error(409, "The thread is busy with a run, or has changed meanwhile.");
    }),
    ("PATCH", "/threads/{thread}/state", "update_thread_metadata", |op| {
        op.body::<MetadataPatch>().empty(204, "The metadata are merged.");
    }),
    ("POST", "/threads/{thread}/state/checkpoint", "get_thread_state_at_checkpoint", |op| {
        op.body::<StateAt>().ok::<ThreadState>("The state.");
    }),
    ("GET", "/threads/{thread}/state/{checkpoint}", "get_thread_state_at", |op| {
        op.query::<StateQuery>().ok::<ThreadState>("The state.");
    }),
    ("GET", "/threads/{thread}/history", "list_thread_history", |op| {
        op.query::<HistoryPage>().ok::<Vec<ThreadState>>("The states, newest first.");
    }),
    ("POST", "/threads/{thread}/history", "search_thread_history", |op| {
        op.body::<HistoryRequest>().ok::<Vec<ThreadState>>("The states, newest first.");
    }),
    ("GET", "/threads/{thread}/stream", "join_thread_stream", |op| {
        op.request_header("Last-Event-ID", "The id of the last event that the client has seen.");
        op.query::<ThreadStreamQuery>();
        let event = thread_event(op.generator);
        op.events("The events of all runs of the thread. The stream stays open.", &event);
    }),
    ("POST", "/threads/{thread}/commands", "send_thread_command", |op| {
        op.about(
            "`run.start` starts a run: its parameters are the body of a run. `input.respond` answers open questions. \
             `agent.getTree` returns the active run with its subgraph calls.",
        );
        op.json_body(&ThreadCommand::schema()).ok::<CommandResponse<'_>>("The response of the command.");
        op.json_response::<CommandFailure<'_>>(400, "The command is malformed.");
    }),
    ("GET", "/threads/{thread}/stream/events", "open_thread_socket", |op| {
        op.about("Commands, their responses and events are messages of the WebSocket.");
        op.empty(101, "The connection is a WebSocket now.");
        op.text_error(400, "The request does not open a WebSocket.");
        op.text_error(426, "The connection cannot become a WebSocket.");
    }),
    ("POST", "/threads/{thread}/stream/events", "stream_thread_events", |op| {
        op.body::<Subscription>();
        let event = protocol_event(op.generator);
        op.events("The events that are kept, and those that follow. The stream stays open.", &event);
    }),
];
