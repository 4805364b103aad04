//! A store works from its first call, from any runtime.

use superstep::checkpoint::CheckpointSource;
use superstep::thread::as_node;
use superstep::{END, ErrorKind, Graph, GraphState, Overwrite, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;

use super::stores::{encrypting, on_every_store};
use super::story::{Probe, Story, begin, log_of, next, recording_nodes, say, story};

recording_nodes! { one two }

fn two_nodes() -> Graph<Story, Probe> {
    story().edge(START, one).edge(one, two).edge(two, END).compile().unwrap()
}

#[tokio::test]
async fn sqlite_creates_the_file_and_its_folders() {
    let folder = tempfile::tempdir().unwrap();
    for encrypted in [false, true] {
        let file = folder.path().join(format!("not/there/{encrypted}/yet.db"));
        let graph = || {
            let store = SqliteCheckpointer::open(&file).unwrap();
            let graph = two_nodes();
            if encrypted {
                graph.with_checkpointer(encrypting(store))
            } else {
                graph.with_checkpointer(store)
            }
        };
        let thread = graph().thread("t");
        assert!(thread.state().await.unwrap().is_none());
        thread.run(begin("in")).context(Probe::default()).await.unwrap();
        drop(thread);
        let thread = graph().thread("t");
        assert_eq!(log_of(&thread.state().await.unwrap().unwrap().state.unwrap()), "in one two");
    }
}

#[test]
fn thread_runs_on_minimal_and_multi_thread_runtimes() {
    let one = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let many = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    for runtime in [one, many] {
        runtime.block_on(on_every_store(async |store| {
            let outcome = store.thread(&two_nodes()).run(begin("in")).context(Probe::default()).await;
            assert_eq!(log_of(outcome.unwrap().state()), "in one two");
        }));
    }
}

#[tokio::test]
async fn second_run_continues_through_another_handle() {
    on_every_store(async |store| {
        store.thread(&two_nodes()).run(begin("first")).context(Probe::default()).await.unwrap();
        let second = store.thread(&two_nodes()).run(begin("second")).context(Probe::default()).await;
        assert_eq!(log_of(second.unwrap().state()), "first one two second one two");
        let history = store.thread(&two_nodes()).history().await.unwrap();
        let steps: Vec<i64> = history.iter().map(|snapshot| snapshot.step).collect();
        assert_eq!(steps, [6, 5, 4, 3, 2, 1, 0, -1]);
    })
    .await;
}

#[tokio::test]
async fn update_starts_a_new_thread() {
    on_every_store(async |store| {
        let thread = store.thread(&two_nodes());
        thread.update(say("told"), None).context(Probe::default()).await.unwrap();
        let snapshot = thread.state().await.unwrap().unwrap();
        assert_eq!(
            (log_of(snapshot.state.as_ref().unwrap()).as_str(), next(&snapshot).as_str()),
            ("told", "one")
        );
        let outcome = store.thread(&two_nodes()).resume(()).context(Probe::default()).await.unwrap();
        assert_eq!(log_of(outcome.state()), "told one two");
        // The update is superstep 0, like the application of an input otherwise. Later supersteps count on.
        store.thread(&two_nodes()).run(begin("in")).context(Probe::default()).await.unwrap();
        let steps: Vec<(i64, CheckpointSource)> = store
            .thread(&two_nodes())
            .history()
            .await
            .unwrap()
            .iter()
            .map(|at| (at.step, at.source))
            .collect();
        let loops = [(6, CheckpointSource::Loop), (5, CheckpointSource::Loop), (4, CheckpointSource::Loop)];
        let first = [
            (3, CheckpointSource::Input),
            (2, CheckpointSource::Loop),
            (1, CheckpointSource::Loop),
            (0, CheckpointSource::Update),
        ];
        assert_eq!(steps, [&loops[..], &first].concat());
    })
    .await;
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Address {
    #[state(input)]
    street: String,
    #[state(input, default = "here".to_owned())]
    town: String,
}

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Parcel {
    #[state(input)]
    weight: f64,
    #[state(flatten, input)]
    to: Address,
    #[state(input)]
    note: Option<String>,
    #[state(input, reducer = append)]
    stops: Vec<String>,
}

async fn send(parcel: &Parcel) -> ParcelUpdate {
    Parcel::update().stops([format!("{} {}", parcel.to.street, parcel.to.town)])
}

fn post() -> Graph<Parcel> {
    StateGraph::<Parcel>::new().edge(START, send).edge(send, END).compile().unwrap()
}

fn street(street: &str) -> AddressUpdate {
    Address::update().street(street.to_owned())
}

#[tokio::test]
async fn update_with_all_required_fields_starts_a_thread() {
    on_every_store(async |store| {
        let given = Parcel::update().weight(2.5).to(street("Elm")).stops(["begun".to_owned()]);
        store.thread(&post()).update(given, None).await.unwrap();
        let snapshot = store.thread(&post()).state().await.unwrap().unwrap();
        let to = Address { street: "Elm".to_owned(), town: "here".to_owned() };
        let begun = Parcel { weight: 2.5, to, note: None, stops: vec!["begun".to_owned()] };
        assert_eq!((snapshot.step, next(&snapshot).as_str()), (0, "send"));
        assert_eq!(snapshot.state, Some(begun));
        let state = store.thread(&post()).resume(()).await.unwrap().into_state();
        assert_eq!(state.stops, ["begun", "Elm here"]);

        // Several updates of one superstep may set the fields together, also by `Overwrite`.
        store.thread(&post()).delete().await.unwrap();
        let first = [
            (Parcel::update().weight(Overwrite(1.0)), as_node(START)),
            (Parcel::update().to(street("Oak")), as_node(send)),
        ];
        let second = [(Parcel::update().weight(3.0), as_node(send))];
        store.thread(&post()).bulk_update([Vec::from(first), Vec::from(second)]).await.unwrap();
        let history = store.thread(&post()).history().await.unwrap();
        let weights: Vec<_> = history.iter().map(|at| (at.step, at.state.as_ref().unwrap().weight)).collect();
        assert_eq!(weights, [(1, 3.0), (0, 1.0)]);
        assert_eq!(history[0].state.as_ref().unwrap().to.street, "Oak");
    })
    .await;
}

#[tokio::test]
async fn incomplete_first_update_names_its_missing_fields() {
    on_every_store(async |store| {
        let thread = store.thread(&post());
        for (update, lacks) in [
            (Parcel::update().note("fragile".to_owned()), &["weight", "street"][..]),
            (Parcel::update().weight(1.0), &["street"]),
        ] {
            let error = thread.update(update, None).await.unwrap_err();
            let ErrorKind::MissingFields { thread: name, fields, .. } = error.kind() else {
                panic!("{error}")
            };
            assert_eq!(
                (name.as_str(), &fields[..]),
                ("t", &lacks.iter().map(|&l| l.to_owned()).collect::<Vec<_>>()[..])
            );
            assert!(thread.state().await.unwrap().is_none());
        }
        let error = thread.update(Parcel::update().weight(f64::NAN).to(street("Elm")), as_node(send)).await;
        let error = error.unwrap_err();
        let ErrorKind::NotStorable { nodes, step: 0, source, .. } = error.kind() else { panic!("{error}") };
        assert_eq!((&nodes[..], source.field()), (&["send".to_owned()][..], "weight"));
        assert!(thread.state().await.unwrap().is_none());

        // A checkpoint with an input that is not yet applied has no stored state either.
        thread.run(Parcel::input(1.0, Address::input("Elm"))).await.unwrap();
        let waiting = thread.history().await.unwrap().last().unwrap().id;
        let error = thread.at(waiting).update(Parcel::update().to(street("Oak")), None).await.unwrap_err();
        assert!(error.to_string().contains("lacks the required fields `weight`"), "{error}");
        let given = Parcel::update().weight(4.0).to(street("Oak"));
        thread.at(waiting).update(given, None).await.unwrap();
        let state = thread.resume(()).await.unwrap().into_state();
        assert_eq!((state.weight, &state.stops[..]), (4.0, &["Oak here".to_owned()][..]));
    })
    .await;
}

#[tokio::test]
async fn missing_thread_has_nothing_to_read_or_resume() {
    on_every_store(async |store| {
        let thread = store.thread(&two_nodes());
        assert!(thread.state().await.unwrap().is_none());
        assert!(thread.history().await.unwrap().is_empty());
        assert!(thread.interrupts().await.unwrap().interrupts().is_empty());
        let error = thread.resume(()).context(Probe::default()).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NoThread { .. }), "{error}");
        assert!(thread.state().await.unwrap().is_none(), "asking makes no thread");
    })
    .await;
}
