//! The page on compile errors lists messages that the compiler still says.
#![expect(clippy::unwrap_used, reason = "the functions of a test fail it")]

use std::path::Path;

#[test]
fn messages_on_the_page_are_those_of_the_cases() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../docs/reference/compile-errors.md")).unwrap();
    let (_, table) = page.split_once("## Messages of superstep").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let listed: Vec<&str> =
        table.lines().filter_map(|row| row.strip_prefix("| ")?.split(" | ").next()).skip(1).collect();
    assert!(listed.len() >= 10, "the table was not found");

    let heads = heads(&root.join("tests/ui"));
    for message in listed {
        assert!(heads.iter().any(|head| fits(head, message)), "no case has the message `{message}`");
    }
}

/// Returns the first line of each error.
fn heads(cases: &Path) -> Vec<String> {
    let mut heads = Vec::new();
    for group in std::fs::read_dir(cases).unwrap() {
        for file in std::fs::read_dir(group.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "stderr") {
                let text = std::fs::read_to_string(&path).unwrap();
                heads.extend(text.lines().filter(|line| line.starts_with("error")).map(str::to_owned));
            }
        }
    }
    heads
}

/// Returns `true` if the parts of a message, between its names, are in a line in this order.
fn fits(line: &str, message: &str) -> bool {
    let mut rest = line;
    message.split("`_`").all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}
