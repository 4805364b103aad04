//! Runs each numbered program. The programs contain assertions of their own.

use std::collections::BTreeSet;
use std::process::Command;

const PROGRAMS: [(&str, &str); 28] = [
    ("01_append", env!("CARGO_BIN_EXE_01_append")),
    ("02_private", env!("CARGO_BIN_EXE_02_private")),
    ("03_conflict", env!("CARGO_BIN_EXE_03_conflict")),
    ("04_map_reduce", env!("CARGO_BIN_EXE_04_map_reduce")),
    ("05_loop", env!("CARGO_BIN_EXE_05_loop")),
    ("06_join", env!("CARGO_BIN_EXE_06_join")),
    ("07_context", env!("CARGO_BIN_EXE_07_context")),
    ("08_stream", env!("CARGO_BIN_EXE_08_stream")),
    ("09_validate", env!("CARGO_BIN_EXE_09_validate")),
    ("10_flatten", env!("CARGO_BIN_EXE_10_flatten")),
    ("11_threads", env!("CARGO_BIN_EXE_11_threads")),
    ("12_approval", env!("CARGO_BIN_EXE_12_approval")),
    ("13_durable_step", env!("CARGO_BIN_EXE_13_durable_step")),
    ("14_time_travel", env!("CARGO_BIN_EXE_14_time_travel")),
    ("15_migration", env!("CARGO_BIN_EXE_15_migration")),
    ("16_encryption", env!("CARGO_BIN_EXE_16_encryption")),
    ("17_messages", env!("CARGO_BIN_EXE_17_messages")),
    ("18_memory", env!("CARGO_BIN_EXE_18_memory")),
    ("19_traffic_light", env!("CARGO_BIN_EXE_19_traffic_light")),
    ("20_divisible_by_5", env!("CARGO_BIN_EXE_20_divisible_by_5")),
    ("21_vending_machine", env!("CARGO_BIN_EXE_21_vending_machine")),
    ("22_picture", env!("CARGO_BIN_EXE_22_picture")),
    ("23_subgraph", env!("CARGO_BIN_EXE_23_subgraph")),
    ("24_workflow", env!("CARGO_BIN_EXE_24_workflow")),
    ("25_policies", env!("CARGO_BIN_EXE_25_policies")),
    ("26_reminders", env!("CARGO_BIN_EXE_26_reminders")),
    ("27_corrections", env!("CARGO_BIN_EXE_27_corrections")),
    ("28_written_graph", env!("CARGO_BIN_EXE_28_written_graph")),
];

#[test]
fn programs_succeed_and_print_only_to_stdout() {
    for (name, path) in PROGRAMS {
        let output = Command::new(path).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "{name} prints nothing");
        assert!(output.stderr.is_empty(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn list_of_programs_is_complete() {
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/bin")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let programs: BTreeSet<_> = names.filter_map(|name| Some(name.strip_suffix(".rs")?.to_owned())).collect();
    assert_eq!(programs, PROGRAMS.map(|(name, _)| name.to_owned()).into());
}

/// The lines of the same machines in the documentation of pydantic-graph (docs/graph.md, formatted, without comments). It has no
/// traffic light.
const PYTHON_LINES: [(&str, usize); 2] = [("20_divisible_by_5", 32), ("21_vending_machine", 79)];

#[test]
fn machines_are_no_longer_than_in_python() {
    for (name, python_lines) in PYTHON_LINES {
        let path = format!("{}/src/bin/{name}.rs", env!("CARGO_MANIFEST_DIR"));
        let program = std::fs::read_to_string(path).unwrap();
        let lines = program
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .skip_while(|line| line.is_empty());
        assert!(lines.count() <= python_lines, "{name}");
    }
}
