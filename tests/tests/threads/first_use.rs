//! A store serves from its first call on, wherever it is called from.

use superstep::checkpoint::CheckpointSource;
use superstep::thread::as_node;
use superstep::{END, ErrorKind, Graph, GraphState, Overwrite, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;

use super::stores::{encrypting, on_every_store};
use super::story::{Story, World, begin, next, say, story, tellers, told};

tellers! { one two }

fn two_nodes() -> Graph<Story, World> {
    story().edge(START, one).edge(one, two).edge(two, END).compile().unwrap()
}

#[tokio::test]
async fn a_file_that_is_not_there_yet_is_made_with_the_folders_above_it() {
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
        thread.run(begin("in")).context(World::default()).await.unwrap();
        drop(thread);
        let thread = graph().thread("t");
        assert_eq!(told(&thread.state().await.unwrap().unwrap().state.unwrap()), "in one two");
    }
}

#[test]
fn a_thread_runs_on_a_runtime_with_one_thread_and_nothing_enabled_and_on_one_with_many() {
    let one = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let many = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    for runtime in [one, many] {
        runtime.block_on(on_every_store(async |place| {
            let outcome = place.thread(&two_nodes()).run(begin("in")).context(World::default()).await;
            assert_eq!(told(outcome.unwrap().state()), "in one two");
        }));
    }
}

#[tokio::test]
async fn a_second_run_goes_on_from_the_stored_state_through_another_handle() {
    on_every_store(async |place| {
        place.thread(&two_nodes()).run(begin("first")).context(World::default()).await.unwrap();
        let second = place.thread(&two_nodes()).run(begin("second")).context(World::default()).await;
        assert_eq!(told(second.unwrap().state()), "first one two second one two");
        let history = place.thread(&two_nodes()).history().await.unwrap();
        let steps: Vec<i64> = history.iter().map(|snapshot| snapshot.step).collect();
        assert_eq!(steps, [6, 5, 4, 3, 2, 1, 0, -1]);
    })
    .await;
}

#[tokio::test]
async fn an_update_of_a_fresh_thread_is_made_once() {
    on_every_store(async |place| {
        let thread = place.thread(&two_nodes());
        thread.update(say("told"), None).context(World::default()).await.unwrap();
        let snapshot = thread.state().await.unwrap().unwrap();
        assert_eq!(
            (told(snapshot.state.as_ref().unwrap()).as_str(), next(&snapshot).as_str()),
            ("told", "one")
        );
        let outcome = place.thread(&two_nodes()).resume(()).context(World::default()).await.unwrap();
        assert_eq!(told(outcome.state()), "told one two");
        // It is applied as the first superstep, which an input's application is otherwise; what follows counts on.
        place.thread(&two_nodes()).run(begin("in")).context(World::default()).await.unwrap();
        let steps: Vec<(i64, CheckpointSource)> = place
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
async fn a_thread_begins_with_an_update_that_gives_all_that_is_required() {
    on_every_store(async |place| {
        let given = Parcel::update().weight(2.5).to(street("Elm")).stops(["begun".to_owned()]);
        place.thread(&post()).update(given, None).await.unwrap();
        let snapshot = place.thread(&post()).state().await.unwrap().unwrap();
        let to = Address { street: "Elm".to_owned(), town: "here".to_owned() };
        let begun = Parcel { weight: 2.5, to, note: None, stops: vec!["begun".to_owned()] };
        assert_eq!((snapshot.step, next(&snapshot).as_str()), (0, "send"));
        assert_eq!(snapshot.state, Some(begun));
        let state = place.thread(&post()).resume(()).await.unwrap().into_state();
        assert_eq!(state.stops, ["begun", "Elm here"]);

        // Several of one superstep give it together, and what overwrites gives it too.
        place.thread(&post()).delete().await.unwrap();
        let first = [
            (Parcel::update().weight(Overwrite(1.0)), as_node(START)),
            (Parcel::update().to(street("Oak")), as_node(send)),
        ];
        let second = [(Parcel::update().weight(3.0), as_node(send))];
        place.thread(&post()).bulk_update([Vec::from(first), Vec::from(second)]).await.unwrap();
        let history = place.thread(&post()).history().await.unwrap();
        let weights: Vec<_> = history.iter().map(|at| (at.step, at.state.as_ref().unwrap().weight)).collect();
        assert_eq!(weights, [(1, 3.0), (0, 1.0)]);
        assert_eq!(history[0].state.as_ref().unwrap().to.street, "Oak");
    })
    .await;
}

#[tokio::test]
async fn a_first_update_that_lacks_something_says_what_and_makes_no_thread() {
    on_every_store(async |place| {
        let thread = place.thread(&post());
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

        // At the checkpoint of an input that was not applied yet, nothing is stored of the state either.
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
async fn a_thread_that_is_not_there_has_nothing_to_show_and_nothing_to_resume() {
    on_every_store(async |place| {
        let thread = place.thread(&two_nodes());
        assert!(thread.state().await.unwrap().is_none());
        assert!(thread.history().await.unwrap().is_empty());
        assert!(thread.interrupts().await.unwrap().interrupts().is_empty());
        let error = thread.resume(()).context(World::default()).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NoThread { .. }), "{error}");
        assert!(thread.state().await.unwrap().is_none(), "asking makes no thread");
    })
    .await;
}
