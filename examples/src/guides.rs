//! The pages of the tutorial, and the guides whose code runs as it is.

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

#[doc = include_str!("../../docs/how-to/testing.md")]
struct HowToTesting;

#[doc = include_str!("../../docs/how-to/schema-evolution.md")]
struct HowToSchemaEvolution;

#[doc = include_str!("../../docs/how-to/http.md")]
struct HowToHttp;

#[doc = include_str!("../../docs/how-to/operations.md")]
struct HowToOperations;
