//! The JSON of the protocol: requests with their parts, and the records that clients see.

mod json;
mod names;
pub(crate) mod outline;
mod problems;
mod read;
pub(crate) mod schema;

mod id;
mod path;
mod sort;
mod time;

pub(crate) mod a2a;
mod assistant;
mod checkpoint;
mod cron;
mod item;
mod json_rpc;
mod run;
mod run_request;
mod state;
mod thread;
mod thread_command;

pub(crate) use assistant::{
    AssistantCreate, AssistantField, AssistantFilter, AssistantPatch, AssistantSearch, AssistantSort,
    SetLatest, VersionSearch,
};
pub(crate) use checkpoint::CheckpointConfig;
pub(crate) use cron::{Cron, CronCreate, CronField, CronFilter, CronPatch, CronSearch, CronSort};
pub(crate) use id::{AssistantId, CronId, RunId, ThreadId};
pub(crate) use item::{Indexed, ItemDelete, ItemNamespace, ItemPut, ItemSearch, NamespaceSearch};
pub(crate) use json::{Object, kind};
pub(crate) use json_rpc::{RpcCall, RpcError, RpcResponse, rpc_response};
pub(crate) use names::names;
pub(crate) use path::ThreadPath;
pub(crate) use problems::{Place, Problems};
pub(crate) use read::{Fields, Read, read_body, read_name};
pub(crate) use run::{
    CancelAction, DurabilityName, IfNotExists, MultitaskStrategy, OnCompletion, OnDisconnect, Run, RunField,
    RunStatus, StreamMode, ThreadStreamMode,
};
pub(crate) use run_request::{BatchedRun, Nodes, RunRequest};
pub(crate) use sort::{IfExists, SortOrder, page};
pub(crate) use state::{
    CancelRuns, CancelStatus, HistoryRequest, MAX_HISTORY, MetadataPatch, StateAt, StateUpdate,
};
pub(crate) use thread::{
    RunError, Superstep, ThreadCreate, ThreadField, ThreadFilter, ThreadPatch, ThreadPrune, ThreadSearch,
    ThreadSort, ThreadStatus, Ttl, TtlStrategy,
};
pub(crate) use thread_command::{
    CommandError, CommandFailure, CommandResponse, ErrorCode, InputRespond, ThreadCommand,
};
pub(crate) use time::Timestamp;
