use super::branch::FieldHistory;
use crate::checkpoint::{ChangeKind, CheckpointId, StoredChange};
use crate::payload::Payload;

fn id(number: u8) -> CheckpointId {
    CheckpointId::from_bytes([number; 16])
}

/// `v1 d2` is a whole value of checkpoint 1 and a delta of checkpoint 2.
fn history(text: &str) -> FieldHistory {
    let mut history = FieldHistory::default();
    for word in text.split_whitespace() {
        let kind = if word.starts_with('v') { ChangeKind::Value } else { ChangeKind::Delta };
        let checkpoint = id(word[1..].parse().unwrap());
        history.push(StoredChange { checkpoint, kind, payload: Payload::json(word) });
    }
    history
}

fn text(history: &FieldHistory) -> String {
    let word = |change: &StoredChange| String::from_utf8(change.payload.bytes().to_vec()).unwrap();
    history.changes.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(written: &str, checkpoints: &[u8], retained: &str) {
    let mut history = history(written);
    let points: Vec<_> = checkpoints.iter().map(|number| id(*number)).collect();
    history.retain_visible_at(&points);
    assert_eq!(text(&history), retained);
    assert_eq!(history.value_positions.len(), retained.matches('v').count());
}

#[test]
fn change_stays_while_a_remaining_checkpoint_sees_it() {
    check("d1 d2 d3", &[3], "d1 d2 d3");
    check("d1 v2 d3 d4", &[4], "v2 d3 d4");
    check("d1 v2 d3 d4", &[1, 4], "d1 v2 d3 d4");
    check("d1 d2 v4 d5", &[3], "d1 d2");
    check("d1 d2 v4 d5", &[2, 4], "d1 d2 v4");
    check("v1 v2 v3", &[2], "v2");
    check("d1 v1 d1 v1 d1", &[1], "v1 d1");
    check("v1 d9", &[], "");
}
