//! One mistake in a state is one error, also when many nodes use the state.
#![expect(clippy::unwrap_used, reason = "the functions of a test fail it")]
#![expect(
    clippy::indexing_slicing,
    reason = "a JSON value that is not there is null, and the tables are long enough"
)]

mod cargo;
mod program;

use cargo::Found;
use program::program;

/// A program with one mistake.
struct Case {
    name: &'static str,
    text: String,
    /// The mistake's token: an error is there.
    at: &'static str,
    /// The number of errors.
    errors: usize,
    /// The reason for more than one.
    because: &'static str,
}

const SUBJECT: &str = "subject: String";

/// Writes the field `subject` in another way.
fn field(name: &'static str, declaration: &str, at: &'static str) -> Case {
    edit(name, program("", ""), SUBJECT, declaration, at)
}

/// Replaces `from` in the program by `to`, which contains the mistake.
fn edit(name: &'static str, program: String, from: &str, to: &str, at: &'static str) -> Case {
    assert!(program.contains(from), "the program lacks {from:?}");
    Case { name, text: program.replacen(from, to, 1), at, errors: 1, because: "" }
}

/// A program whose state has parameters and the field `declaration`.
fn generic(name: &'static str, params: &str, arguments: &str, declaration: &str, at: &'static str) -> Case {
    edit(name, program(params, arguments), SUBJECT, declaration, at)
}

impl Case {
    fn correct(self) -> Self {
        Self { errors: 0, ..self }
    }

    fn errors(self, errors: usize, because: &'static str) -> Self {
        Self { errors, because, ..self }
    }

    fn with(mut self, from: &str, to: &str) -> Self {
        assert!(self.text.contains(from), "the program lacks {from:?}");
        self.text = self.text.replace(from, to);
        self
    }
}

fn fields() -> Vec<Case> {
    let rc = "std::rc::Rc<String>";
    vec![
        field("correct", SUBJECT, "").correct(),
        field("rc", "subject: std::rc::Rc<String>", rc),
        field("untracked_rc", "#[state(untracked)] subject: std::rc::Rc<String>", rc),
        field(
            "list_of_rc",
            "#[state(reducer = append)] subject: Vec<std::rc::Rc<String>>",
            "Vec<std::rc::Rc<String>>",
        ),
        field("ref_cell", "subject: std::cell::RefCell<String>", "std::cell::RefCell<String>"),
        field("not_serialized", "subject: Client", "Client"),
        field("no_start_value", "subject: NoDefault", "NoDefault"),
        field("wrong_reducer", "#[state(reducer = merge)] subject: String", "String"),
        field("no_reducer", "#[state(reducer = Client)] subject: String", "String"),
        field("wrong_rule", "#[state(validate(range(min = 1)))] subject: String", "range"),
        field("unknown_type", "subject: Strin", "Strin"),
        field("unknown_path", "subject: chrono::Date", "chrono"),
        field("missing_lifetime", "subject: &str", "&"),
        field(
            "not_clone",
            "#[state(untracked)] subject: std::sync::Mutex<String>",
            "std::sync::Mutex<String>",
        )
        .with("ticket.subject.clone()", "Default::default()")
        .errors(2, "`derive(Clone)` reports the field too"),
        edit("missing_clone", program("", ""), "derive(GraphState, Clone)", "derive(GraphState)", "Ticket"),
    ]
}

fn syntax() -> Vec<Case> {
    vec![
        field("misspelt_attribute", "#[state(untraked)] subject: String", "untraked"),
        field("attribute_without_value", "#[state(reducer = )] subject: String", "(reducer = )"),
        field("attribute_without_comma", "#[state(rename = \"a\" output)] subject: String", "output"),
        field("attribute_with_two_commas", "#[state(alias = \"a\", , alias = \"b\")] subject: String", ","),
        field("attribute_without_list", "#[state] subject: String", "state"),
        field("unclosed_bracket", "#[state(default = [1, 2)] subject: String", ")"),
        field("missing_type", "subject:", ","),
        field("missing_colon", "subject String", "String"),
        field("missing_name", "subject: String,\n    : u8", ":"),
        edit("missing_comma", program("", ""), "subject: String,", "subject: String", ""),
        edit("semicolon", program("", ""), "subject: String,", "subject: String;", ";"),
        field("unclosed_type", "subject: Option<String", "#[state(reducer = add, input)]")
            .errors(2, "rustc reads the next field as an argument of the type, and reports it twice"),
    ]
}

fn names() -> Vec<Case> {
    let own = |name, ty, at| {
        edit(name, program("", ""), "async fn tick", &format!("struct {ty};\n\nasync fn tick"), at)
    };
    let because = "the generated code names the type, and rustc takes the user's";
    vec![
        own("own_update", "TicketUpdate", "GraphState").errors(2, because),
        own("own_input", "TicketInput", "GraphState").errors(2, because),
        own("own_output", "TicketOutput", "GraphState").errors(2, because),
    ]
}

fn generics() -> Vec<Case> {
    let named = "every node names the type with the argument";
    vec![
        generic("lifetime", "<'a>", "<'static>", "subject: &'a str", "'a"),
        generic("generic", "<T>", "<String>", "subject: T", "").correct(),
        generic("generic_list", "<T>", "<NoDefault>", "#[state(reducer = append)] subject: Vec<T>", "")
            .correct(),
        generic("generic_untracked", "<T>", "<Client>", "#[state(untracked)] subject: Option<T>", "")
            .correct(),
        generic("generic_marker", "<T>", "<NoDefault>", "subject: std::marker::PhantomData<T>", "").correct(),
        generic("generic_key", "<K, V>", "<String, NoDefault>", "subject: BTreeMap<K, Vec<V>>", "").correct(),
        generic(
            "generic_array",
            "<T, const N: usize>",
            "<u8, 2>",
            "#[state(untracked, default = None)] subject: Option<[T; N]>",
            "",
        )
        .correct(),
        generic("generic_with_bound", "<T: ToString>", "<String>", "subject: T", "").correct(),
        generic("generic_rc", "<T>", "<String>", "subject: std::rc::Rc<T>", "std::rc::Rc<T>"),
        generic("generic_reducer", "<T>", "<String>", "#[state(reducer = max)] subject: T", "T"),
        generic(
            "generic_argument",
            "<T>",
            "<std::rc::Rc<String>>",
            "subject: T",
            "TicketUpdate<std::rc::Rc<String>>",
        )
        .errors(77, named),
        generic("generic_not_serialized", "<T>", "<Client>", "subject: T", "TicketUpdate<Client>")
            .errors(57, named),
    ]
}

#[test]
fn each_mistake_is_one_error() {
    let cases: Vec<_> = [fields(), syntax(), names(), generics()].into_iter().flatten().collect();
    let found = cargo::check(cases.iter().map(|case| (case.name, &*case.text)));
    let wrong =
        cases.iter().filter(|case| !is_as_expected(case, found.get(case.name).map_or(&[], Vec::as_slice)));
    assert_eq!(wrong.count(), 0, "of {} programs", cases.len());
}

/// Prints the errors if they are not as expected.
fn is_as_expected(case: &Case, found: &[Found]) -> bool {
    let at: Vec<_> = found.iter().filter_map(|found| case.text.get(found.at.clone())).collect();
    let as_expected = found.len() == case.errors && (found.is_empty() || at.contains(&case.at));
    if !as_expected {
        let (name, errors, because) = (case.name, case.errors, case.because);
        eprintln!("## {name}: {} errors, expected {errors} {because}", found.len());
        eprintln!("at {at:?}, expected {:?}\n", case.at);
        found.iter().for_each(|found| eprintln!("{}", found.rendered));
    }
    as_expected
}
