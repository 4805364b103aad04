use std::fs;

use super::*;

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    folder
}

fn names(corpus: &Corpus) -> Vec<&str> {
    let mut names: Vec<_> = corpus.passages.iter().map(|passage| passage.file.as_str()).collect();
    names.dedup();
    names
}

fn skipped(corpus: &Corpus) -> Vec<String> {
    corpus.skipped.iter().map(ToString::to_string).collect()
}

#[test]
fn files_are_sorted_by_name() {
    let folder = folder(&[("b.md", b"b"), ("a/z.txt", b"z"), ("README", b"r"), ("c.MD", b"c")]);
    let corpus = Corpus::read(folder.path(), Kinds::Text).unwrap();
    assert_eq!(names(&corpus), ["README", "a/z.txt", "b.md", "c.MD"]);
    assert_eq!(corpus.files, 4);
}

#[test]
fn hidden_and_build_folders_are_ignored() {
    let folder =
        folder(&[("a.md", b"a"), (".git/x.md", b"x"), ("target/y.md", b"y"), ("node_modules/z.md", b"z")]);
    let corpus = Corpus::read(folder.path(), Kinds::Text).unwrap();
    assert_eq!(names(&corpus), ["a.md"]);
    assert!(corpus.skipped.is_empty());
}

#[test]
fn unreadable_files_are_listed() {
    let folder = folder(&[
        ("a.md", b"a"),
        ("nul.md", b"a\0b"),
        ("latin.txt", b"caf\xe9"),
        ("void.md", b" \n"),
        ("pic.png", b"\x89PNG"),
    ]);
    let corpus = Corpus::read(folder.path(), Kinds::Text).unwrap();
    assert_eq!(
        skipped(&corpus),
        [
            "`latin.txt` (not UTF-8 text)",
            "`nul.md` (not UTF-8 text)",
            "`pic.png` (not a text or markdown file)",
            "`void.md` (empty)"
        ]
    );
}

#[test]
fn huge_file_is_listed() {
    let folder = folder(&[("a.md", b"a"), ("huge.txt", &vec![b'x'; (8 << 20) + 1])]);
    let corpus = Corpus::read(folder.path(), Kinds::Text).unwrap();
    assert_eq!(skipped(&corpus), ["`huge.txt` (larger than 8 MiB)"]);
}

#[cfg(unix)]
#[test]
fn cyclic_and_dead_links_are_listed() {
    let folder = folder(&[("a.md", b"a"), ("sub/b.md", b"b")]);
    std::os::unix::fs::symlink(folder.path(), folder.path().join("sub/loop")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("dead.md")).unwrap();
    let corpus = Corpus::read(folder.path(), Kinds::Text).unwrap();
    assert_eq!(names(&corpus), ["a.md", "sub/b.md"]);
    let files: Vec<_> = corpus.skipped.iter().map(|skipped| skipped.file.as_str()).collect();
    assert_eq!(files, ["dead.md", "sub/loop"]);
}

#[test]
fn markdown_kind_ignores_other_files() {
    let folder = folder(&[("a.md", b"a"), ("main.rs", b"fn main() {}"), ("LICENSE", b"MIT")]);
    let corpus = Corpus::read(folder.path(), Kinds::Markdown).unwrap();
    assert_eq!(names(&corpus), ["a.md"]);
    assert!(corpus.skipped.is_empty());
}

#[test]
fn single_file_is_read() {
    let folder = folder(&[("notes.log", b"hello")]);
    let corpus = Corpus::read(&folder.path().join("notes.log"), Kinds::Text).unwrap();
    assert_eq!(names(&corpus), ["notes.log"]);
}

#[test]
fn folder_without_text_is_an_error() {
    let empty = folder(&[]);
    let error = Corpus::read(empty.path(), Kinds::Text).unwrap_err();
    assert_eq!(error.to_string(), format!("no text to read in `{}`", empty.path().display()));

    let binary = folder(&[("a.png", b"x")]);
    let error = Corpus::read(binary.path(), Kinds::Text).unwrap_err();
    assert!(error.to_string().ends_with(": skipped `a.png` (not a text or markdown file)"), "{error}");

    let error = Corpus::read(&empty.path().join("no"), Kinds::Text).unwrap_err();
    assert!(matches!(error, Error::NoSuchFolder { .. }));
}
