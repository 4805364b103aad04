//! The messages name nothing that users cannot write.

use std::path::Path;

/// Types and markers of the library that have no meaning for users.
const PRIVATE: &[&str] = &[
    "ByOverwrite",
    "ByUpdate",
    "FlowUpdate",
    "IsNamed",
    "IsNamedValue",
    "NodeFn",
    "NodeOutput",
    "StatelessUpdate",
];

#[test]
fn messages_contain_no_private_name() {
    let mut found = Vec::new();
    for group in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui")).unwrap() {
        for file in std::fs::read_dir(group.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "stderr") {
                let text = std::fs::read_to_string(&path).unwrap();
                let lines = text.lines().enumerate().filter(|(_, line)| is_private(line));
                found.extend(lines.map(|(nth, line)| format!("{}:{}: {line}", path.display(), nth + 1)));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

fn is_private(line: &str) -> bool {
    let mut words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    line.contains("fn item {")
        || words.any(|word| {
            let generated = word.strip_prefix("__").is_some_and(|rest| rest.starts_with(char::is_alphabetic));
            generated || PRIVATE.contains(&word)
        })
}

#[test]
fn private_names_are_recognised() {
    assert!(is_private("required by a bound in `superstep::__private::Choice`"));
    assert!(is_private("`TicketUpdate` implements `IntoStep<__S>`"));
    assert!(is_private("found fn item `fn item {draft}`"));
    assert!(!is_private("11 | async fn draft(_: &Ticket) -> TicketUpdate {"));
}
