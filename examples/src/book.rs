//! The examples of the book in `docs/` and of the README, compiled and run as doc tests.
//!
//! `tests/book.rs` checks that every page with Rust code is listed here.

#[doc = include_str!("../../README.md")]
struct Readme;

#[doc = include_str!("../../docs/introduction.md")]
struct Introduction;

#[doc = include_str!("../../docs/tutorial/first-graph.md")]
struct TutorialFirstGraph;

#[doc = include_str!("../../docs/tutorial/state.md")]
struct TutorialState;

#[doc = include_str!("../../docs/tutorial/conditional-edges.md")]
struct TutorialConditionalEdges;

#[doc = include_str!("../../docs/tutorial/threads.md")]
struct TutorialThreads;

#[doc = include_str!("../../docs/tutorial/interrupts.md")]
struct TutorialInterrupts;

#[doc = include_str!("../../docs/tutorial/streaming.md")]
struct TutorialStreaming;

#[doc = include_str!("../../docs/tutorial/agent.md")]
struct TutorialAgent;

#[doc = include_str!("../../docs/tutorial/testing.md")]
struct TutorialTesting;

#[doc = include_str!("../../docs/how-to/human-in-the-loop.md")]
struct HowToHumanInTheLoop;

#[doc = include_str!("../../docs/how-to/streaming.md")]
struct HowToStreaming;

#[doc = include_str!("../../docs/how-to/time-travel.md")]
struct HowToTimeTravel;

#[doc = include_str!("../../docs/how-to/multi-agent.md")]
struct HowToMultiAgent;

#[doc = include_str!("../../docs/how-to/map-reduce.md")]
struct HowToMapReduce;

#[doc = include_str!("../../docs/how-to/retries.md")]
struct HowToRetries;

#[doc = include_str!("../../docs/how-to/timers.md")]
struct HowToTimers;

#[doc = include_str!("../../docs/how-to/reminders.md")]
struct HowToReminders;

#[doc = include_str!("../../docs/how-to/cancellation.md")]
struct HowToCancellation;

#[doc = include_str!("../../docs/how-to/subgraphs.md")]
struct HowToSubgraphs;

#[doc = include_str!("../../docs/how-to/workflows.md")]
struct HowToWorkflows;

#[doc = include_str!("../../docs/how-to/state-machines.md")]
struct HowToStateMachines;

#[doc = include_str!("../../docs/how-to/testing.md")]
struct HowToTesting;

#[doc = include_str!("../../docs/how-to/schema-evolution.md")]
struct HowToSchemaEvolution;

#[doc = include_str!("../../docs/how-to/agent-server.md")]
struct HowToAgentServer;

#[doc = include_str!("../../docs/how-to/http.md")]
struct HowToHttp;

#[doc = include_str!("../../docs/how-to/idempotent-requests.md")]
struct HowToIdempotentRequests;

#[doc = include_str!("../../docs/how-to/operations.md")]
struct HowToOperations;

#[doc = include_str!("../../docs/how-to/production-storage.md")]
struct HowToProductionStorage;

#[doc = include_str!("../../docs/how-to/diagrams.md")]
struct HowToDiagrams;

#[doc = include_str!("../../docs/how-to/memory.md")]
struct HowToMemory;

#[doc = include_str!("../../docs/how-to/write-a-store.md")]
struct HowToWriteAStore;

#[doc = include_str!("../../docs/reference/behaviour.md")]
struct ReferenceBehaviour;

#[doc = include_str!("../../docs/reference/errors.md")]
struct ReferenceErrors;

#[doc = include_str!("../../docs/reference/attributes.md")]
struct ReferenceAttributes;

#[doc = include_str!("../../docs/reference/events.md")]
struct ReferenceEvents;
