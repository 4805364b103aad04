//! Grades the message of each case by five criteria, and compares the grades with `grades.md`.
//!
//! | criterion | holds if |
//! |---|---|
//! | one | there is one error for each mistake. A case has one mistake unless its last line says `// mistakes: 2` |
//! | token | each error is at a token of the program, not at the name of a derive |
//! | words | the first line says what is wrong in words for this mistake, or is a plain message of rustc |
//! | advice | the message says what to write or what is expected, or is a rule that a macro states |
//! | quiet | no private name, and no list of implementations |
//!
//! `GRADES=overwrite cargo test -p mistakes --test grades` writes the file.
#![expect(clippy::unwrap_used, reason = "the functions of a test fail it")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

const CRITERIA: [&str; 5] = ["one", "token", "words", "advice", "quiet"];

/// What a criterion reads: the program and the message.
struct Case {
    program: String,
    message: String,
}

impl Case {
    /// Returns the results of the criteria, in their order.
    fn grade(&self) -> [bool; 5] {
        [self.is_one(), self.is_at_token(), self.has_words(), self.has_advice(), self.is_quiet()]
    }

    fn heads(&self) -> impl Iterator<Item = &str> {
        self.message.lines().filter(|line| line.starts_with("error"))
    }

    fn is_one(&self) -> bool {
        let declared = self.program.lines().last().and_then(|line| line.strip_prefix("// mistakes: "));
        let mistakes = declared.map_or(1, |number| number.parse().unwrap());
        self.heads().count() == mistakes
    }

    /// The line below the first line of source that an error shows has the carets.
    fn is_at_token(&self) -> bool {
        let mut lines = self.message.lines().peekable();
        while let Some(line) = lines.next() {
            if !line.starts_with("error") {
                continue;
            }
            let is_own = lines.next().is_some_and(|place| place.trim_start().starts_with("--> tests/ui/"));
            let rest: Vec<&str> = lines.clone().take_while(|line| !line.starts_with("error")).collect();
            let caret = rest.iter().position(|line| line.contains('^'));
            let shown = caret.and_then(|caret| Some((rest.get(caret.checked_sub(1)?)?, rest.get(caret)?)));
            let is_derive = shown.is_some_and(|(source, carets)| {
                let (from, to) = (carets.find('^').unwrap_or(0), carets.rfind('^').unwrap_or(0));
                source.contains("#[derive(") && source.get(from..=to).is_some_and(is_name_of_derive)
            });
            if !is_own || is_derive {
                return false;
            }
        }
        true
    }

    fn has_words(&self) -> bool {
        let vague = [
            "the trait bound",
            "is not a future",
            "cannot be known at compilation time",
            "is not general enough",
        ];
        !self.heads().any(|head| vague.iter().any(|part| head.contains(part)))
    }

    fn has_advice(&self) -> bool {
        // The macros say what they expect. So does `graph!`, in constants.
        let is_ours = |head: &str| !head.starts_with("error[") || head.contains("evaluation panicked");
        let is_advice = |line: &str| {
            let line = line.trim_start();
            line.strip_prefix("= note: ").is_some_and(|note| !is_noise(note))
                || line.starts_with("help: ") && !line.starts_with("help: the ")
                || ["^ expected ", "- expected ", "argument #", "^ set it with "]
                    .iter()
                    .any(|part| line.contains(part))
        };
        self.heads().any(is_ours) || self.message.lines().any(is_advice)
    }

    fn is_quiet(&self) -> bool {
        let private = self
            .message
            .split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
            .any(|word| word.starts_with("__") && !word.trim_matches('_').is_empty());
        let lists = ["following other types implement trait", "{closure", "{async closure", "fn item {"];
        !private && !lists.iter().any(|part| self.message.contains(part))
    }
}

fn is_name_of_derive(text: &str) -> bool {
    ["GraphState", "Route", "StateView", "StateUpdate", "Machine"].contains(&text)
}

/// Returns `true` for notes of rustc that every such error has.
fn is_noise(note: &str) -> bool {
    ["expected ", "required ", "this error originates", "the following trait", "found "]
        .iter()
        .any(|start| note.starts_with(start))
}

#[test]
fn grades_are_those_of_the_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut groups: BTreeMap<String, BTreeMap<String, [bool; 5]>> = BTreeMap::new();
    for group in std::fs::read_dir(root.join("tests/ui")).unwrap() {
        let group = group.unwrap();
        let cases = groups.entry(group.file_name().into_string().unwrap()).or_default();
        for file in std::fs::read_dir(group.path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                let program = std::fs::read_to_string(&path).unwrap();
                let message = std::fs::read_to_string(path.with_extension("stderr")).unwrap();
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                cases.insert(name, Case { program, message }.grade());
            }
        }
    }
    let number: usize = groups.values().map(BTreeMap::len).sum();
    assert!(number >= 300, "the catalogue has {number} cases");

    let (written, path) = (page(&groups), root.join("grades.md"));
    if std::env::var("GRADES").is_ok_and(|value| value == "overwrite") {
        std::fs::write(&path, &written).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == written,
        "the grades have changed: `GRADES=overwrite cargo test -p mistakes --test grades` writes\n{written}"
    );
}

fn page(groups: &BTreeMap<String, BTreeMap<String, [bool; 5]>>) -> String {
    let mut page = "# Grades of the messages\n\nWritten by `tests/grades.rs`, which says what the criteria mean.\n\n\
                    | group | cases | one | token | words | advice | quiet | all |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let mut row = |name: &str, grades: &[&[bool; 5]]| {
        let _ = write!(page, "| {name} | {} ", grades.len());
        for criterion in 0..CRITERIA.len() {
            let kept = grades.iter().filter(|grade| grade.get(criterion) == Some(&true)).count();
            let _ = write!(page, "| {kept} ");
        }
        let all = grades.iter().filter(|grade| grade.iter().all(|kept| *kept)).count();
        let _ = writeln!(page, "| {all} |");
    };
    for (group, cases) in groups {
        row(&format!("[{group}](tests/ui/{group})"), &cases.values().collect::<Vec<_>>());
    }
    row("all", &groups.values().flat_map(BTreeMap::values).collect::<Vec<_>>());
    page += "\nThe cases that miss a criterion:\n\n| case | misses |\n|---|---|\n";
    for (group, cases) in groups {
        for (name, grade) in cases {
            let missed: Vec<&str> =
                CRITERIA.iter().zip(grade).filter(|(_, kept)| !**kept).map(|(name, _)| *name).collect();
            if !missed.is_empty() {
                let _ = writeln!(page, "| {group}/{name} | {} |", missed.join(", "));
            }
        }
    }
    page
}
