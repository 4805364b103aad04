use super::line::Pieces;
use crate::checkpoint::{ChangeKind, CheckpointId, StoredChange};
use crate::payload::Payload;

fn id(number: u8) -> CheckpointId {
    CheckpointId::from_bytes([number; 16])
}

/// `v1 d2` is a whole value of checkpoint 1 and a delta of checkpoint 2.
fn pieces(text: &str) -> Pieces {
    let mut pieces = Pieces::default();
    for word in text.split_whitespace() {
        let kind = if word.starts_with('v') { ChangeKind::Value } else { ChangeKind::Delta };
        let checkpoint = id(word[1..].parse().unwrap());
        pieces.push(StoredChange { checkpoint, kind, payload: Payload::json(word) });
    }
    pieces
}

fn text(pieces: &Pieces) -> String {
    let word = |piece: &StoredChange| String::from_utf8(piece.payload.bytes().to_vec()).unwrap();
    pieces.all.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(written: &str, seen_from: &[u8], kept: &str) {
    let mut pieces = pieces(written);
    let points: Vec<_> = seen_from.iter().map(|number| id(*number)).collect();
    pieces.keep_what_is_seen_from(&points);
    assert_eq!(text(&pieces), kept);
    assert_eq!(pieces.values.len(), kept.matches('v').count());
}

#[test]
fn a_piece_stays_while_a_checkpoint_before_the_next_whole_value_does() {
    check("d1 d2 d3", &[3], "d1 d2 d3");
    check("d1 v2 d3 d4", &[4], "v2 d3 d4");
    check("d1 v2 d3 d4", &[1, 4], "d1 v2 d3 d4");
    check("d1 d2 v4 d5", &[3], "d1 d2");
    check("d1 d2 v4 d5", &[2, 4], "d1 d2 v4");
    check("v1 v2 v3", &[2], "v2");
    check("d1 v1 d1 v1 d1", &[1], "v1 d1");
    check("v1 d9", &[], "");
}
