//! The difference that each attribute makes to the expansion of the smallest state, in `snapshots/`.
//!
//! `UPDATE_EXPECT=1 cargo test -p superstep-derive` updates the files. Review the change like any other.

use expect_test::{ExpectFile, expect_file};

use super::derive;

const PLAIN: &str = "struct Ticket { field: T }";

/// Returns the expansion after the words of the attributes, which have tests of their own.
fn expansion(item: &str) -> String {
    let (_, tokens) = derive(item.parse().unwrap());
    let mut file: syn::File = syn::parse2(tokens).unwrap();
    file.items = file.items.into_iter().skip_while(|item| matches!(item, syn::Item::Const(_))).collect();
    prettyplease::unparse(&file)
}

/// Compares the expansion of `item` with that of the plain state.
#[track_caller]
fn check(item: &str, expected: &ExpectFile) {
    let (before, after) = (expansion(PLAIN), expansion(item));
    expected.assert_eq(&diff(&before, &after));
}

#[track_caller]
fn field(attribute: &str, expected: &ExpectFile) {
    check(&format!("struct Ticket {{ {attribute} field: T }}"), expected);
}

/// Returns the lines that differ, by longest common subsequence.
fn diff(before: &str, after: &str) -> String {
    let (before, after): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let mut common = vec![vec![0_usize; after.len() + 1]; before.len() + 1];
    for (i, old) in before.iter().enumerate().rev() {
        for (j, new) in after.iter().enumerate().rev() {
            common[i][j] =
                if old == new { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut text) = (0, 0, String::new());
    while i < before.len() || j < after.len() {
        if i < before.len() && j < after.len() && before[i] == after[j] {
            (i, j) = (i + 1, j + 1);
        } else if i < before.len() && (j == after.len() || common[i + 1][j] >= common[i][j + 1]) {
            text.push_str(&format!("- {}\n", before[i].trim()));
            i += 1;
        } else {
            text.push_str(&format!("+ {}\n", after[j].trim()));
            j += 1;
        }
    }
    text
}

#[test]
fn smallest_state() {
    expect_file!["snapshots/plain.rs.txt"].assert_eq(&expansion(PLAIN));
}

#[test]
fn mistake_leaves_a_fallback() {
    expect_file!["snapshots/stand_in.rs.txt"]
        .assert_eq(&expansion("struct Ticket { #[state(inptu)] field: T }"));
}

macro_rules! fields {
    ($($name:ident: $attribute:literal;)*) => {$(
        #[test]
        fn $name() {
            field($attribute, &expect_file![concat!("snapshots/", stringify!($name), ".txt")]);
        }
    )*};
}

fields! {
    input: "#[state(input)]";
    output: "#[state(output)]";
    reducer_append: "#[state(reducer = append)]";
    reducer_add_messages: "#[state(reducer = add_messages)]";
    reducer_type: "#[state(reducer = path::Own)]";
    reducer_function: "#[state(reducer = path::fold)]";
    reducer_takes: "#[state(reducer = path::fold, takes = U)]";
    reducer_ephemeral: "#[state(reducer = ephemeral)]";
    ephemeral: "#[state(ephemeral, reducer = append)]";
    exclude: "#[state(exclude)]";
    untracked: "#[state(untracked)]";
    from_context: "#[state(untracked, from_context = path::make)]";
    rename: "#[state(rename = \"other\")]";
    alias: "#[state(alias = \"old\", alias = \"older\")]";
    serialize_with: "#[state(serialize_with = path::write)]";
    serialize_with_display: "#[state(serialize_with = display)]";
    deserialize_with: "#[state(deserialize_with = path::read)]";
    with: "#[state(with = path)]";
    default: "#[state(input, default = 3)]";
    validate_length: "#[state(validate(length(min = 1)))]";
    validate_range: "#[state(validate(range(min = 0.0, max = 1.0)))]";
    validate_inner_custom: "#[state(validate(inner(custom(path::check))))]";
    validate_pattern: "#[state(exclude, validate(pattern(\"a+\")))]";
    flatten: "#[state(flatten)]";
    flatten_input: "#[state(flatten, input)]";
    visibility: "pub(super)";
    docs: "/// Told by the user.\n";
}

#[test]
fn serde_attributes_have_the_same_meaning() {
    for (serde, state) in [
        ("rename = \"other\"", "rename = \"other\""),
        ("alias = \"old\"", "alias = \"old\""),
        ("default = \"path\"", "default = path()"),
        ("skip", "untracked"),
        ("skip_serializing", "exclude"),
        ("with = \"path\"", "with = path"),
        (
            "serialize_with = \"path\", deserialize_with = \"read\"",
            "serialize_with = path, deserialize_with = read",
        ),
    ] {
        let with =
            |name: &str, items: &str| expansion(&format!("struct Ticket {{ #[{name}({items})] field: T }}"));
        assert_eq!(with("serde", serde), with("state", state), "{serde}");
    }
    let serde = expansion("#[serde(rename_all = \"kebab-case\")] struct Ticket { a_field: T }");
    assert_eq!(serde, expansion("#[state(rename_all = \"kebab-case\")] struct Ticket { a_field: T }"));
}

#[test]
fn reducer_folds_the_inside_of_an_option() {
    check(
        "struct Ticket { #[state(reducer = append)] field: Option<T> }",
        &expect_file!["snapshots/reducer_optional.txt"],
    );
}

#[test]
fn renamed_crate_is_used_everywhere() {
    let renamed = expansion("#[state(crate = ::renamed)] struct Ticket { field: T }");
    assert!(!renamed.contains("superstep"), "{renamed}");
}

#[test]
fn rename_all() {
    check(
        "#[state(rename_all = \"UPPERCASE\")] struct Ticket { field: T }",
        &expect_file!["snapshots/rename_all.txt"],
    );
}

#[test]
fn invariant() {
    check(
        "#[state(invariant = path::check)] struct Ticket { field: T }",
        &expect_file!["snapshots/invariant.txt"],
    );
}

#[test]
fn version() {
    check(
        "#[state(version = 2, migrate = path::migrate)] struct Ticket { field: T }",
        &expect_file!["snapshots/version.txt"],
    );
}

#[test]
fn generics() {
    check(
        "pub struct Ticket<T, U = u8> where T: Bound { #[state(output)] field: T, other: U }",
        &expect_file!["snapshots/generics.txt"],
    );
}

#[test]
fn skip_none() {
    check(
        "#[state(skip_none)] struct Ticket { #[state(output)] field: Option<T> }",
        &expect_file!["snapshots/skip_none.txt"],
    );
    let on_field = expansion("struct Ticket { #[state(output, skip_none)] field: Option<T> }");
    assert_eq!(
        on_field,
        expansion("#[state(skip_none)] struct Ticket { #[state(output)] field: Option<T> }")
    );
    let serde = "struct Ticket { #[state(output)] #[serde(skip_serializing_if = \"Option::is_none\")] field: Option<T> }";
    assert_eq!(on_field, expansion(serde));
}

#[test]
fn raw_identifier() {
    check("struct Ticket { r#type: T }", &expect_file!["snapshots/raw_identifier.txt"]);
}

#[test]
fn no_field() {
    check("struct Ticket {}", &expect_file!["snapshots/no_field.txt"]);
}

#[cfg(feature = "schema")]
#[test]
fn schema() {
    check(
        "#[state(schema)] struct Ticket { /** Told by the user. */ field: T }",
        &expect_file!["snapshots/schema.txt"],
    );
}

#[cfg(not(feature = "schema"))]
#[test]
fn schema_names_its_feature() {
    let text = derive("#[state(schema)] struct Ticket {}".parse().unwrap()).1.to_string();
    assert!(text.contains("`schema` needs the feature `schema` of `superstep`"), "{text}");
}
