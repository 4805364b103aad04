//! Places slots along their ranks, and the ranks themselves.

use super::{Rank, SWEEPS, Slot, as_float};

/// The distance between neighbours of a rank. Labels have ranks of their own.
const GAP: f64 = 28.0;
const RANK_GAP: f64 = 26.0;

/// Moves each slot towards the middle of its neighbours, as far as there is room.
pub(crate) fn place_across(rows: &[Vec<usize>], slots: &mut [Slot]) {
    for row in rows {
        spread(row, slots, |_, _| None);
    }
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        let sorted: Vec<&Vec<usize>> = if down { rows.iter().collect() } else { rows.iter().rev().collect() };
        for row in sorted {
            spread(row, slots, |slot, slots| {
                let near = if down { &slot.above } else { &slot.below };
                let sum: f64 = near.iter().filter_map(|&near| slots.get(near)).map(|near| near.across).sum();
                (!near.is_empty()).then(|| sum / as_float(near.len()))
            });
        }
    }
    let least = slots.iter().map(|slot| slot.across - slot.size.across / 2.0).fold(f64::INFINITY, f64::min);
    if least.is_finite() {
        slots.iter_mut().for_each(|slot| slot.across -= least);
    }
}

/// Places a row as close to the wanted positions as its order and sizes allow.
fn spread(row: &[usize], slots: &mut [Slot], wanted: impl Fn(&Slot, &[Slot]) -> Option<f64>) {
    let wishes: Vec<f64> = row
        .iter()
        .filter_map(|&slot| slots.get(slot))
        .map(|slot| wanted(slot, slots).unwrap_or(slot.across))
        .collect();
    let halves: Vec<f64> =
        row.iter().filter_map(|&slot| slots.get(slot)).map(|slot| slot.size.across / 2.0).collect();
    // Neighbours that would overlap become a block, which is placed as close to its members' wishes as possible.
    let mut blocks: Vec<(f64, Vec<f64>)> = Vec::new();
    for (index, wish) in wishes.iter().enumerate() {
        let mut block = (*wish, vec![0.0]);
        let mut half = halves.get(index).copied().unwrap_or_default();
        while let Some((start, offsets)) = blocks.pop() {
            let last_index = index + 1 - block.1.len();
            let before =
                last_index.checked_sub(1).and_then(|last| halves.get(last)).copied().unwrap_or_default();
            if block.1.len() > 1 {
                half = halves.get(last_index).copied().unwrap_or_default();
            }
            let end = start + offsets.last().copied().unwrap_or_default();
            let apart = before + half + GAP;
            if end + apart <= block.0 {
                blocks.push((start, offsets));
                break;
            }
            let shift = offsets.last().copied().unwrap_or_default() + apart;
            let (old, new) = (as_float(offsets.len()), as_float(block.1.len()));
            let start = (start * old + (block.0 - shift) * new) / (old + new);
            let moved = block.1.iter().map(|offset| offset + shift);
            block = (start, offsets.into_iter().chain(moved).collect());
        }
        blocks.push(block);
    }
    let places =
        blocks.into_iter().flat_map(|(start, offsets)| offsets.into_iter().map(move |offset| start + offset));
    for (&slot, place) in row.iter().zip(places) {
        if let Some(slot) = slots.get_mut(slot) {
            slot.across = place;
        }
    }
}

/// Returns the position of each rank, and the total length.
pub(crate) fn place_along(rows: &[Vec<usize>], slots: &[Slot]) -> (Vec<Rank>, f64) {
    let mut ranks = Vec::new();
    let mut end = 0.0;
    for (rank, row) in rows.iter().enumerate() {
        let height =
            row.iter().filter_map(|&slot| slots.get(slot)).map(|slot| slot.size.along).fold(0.0, f64::max);
        if rank > 0 {
            // Empty ranks are narrow.
            end += if height > 0.0 { RANK_GAP / 2.0 } else { RANK_GAP / 4.0 };
        }
        ranks.push(Rank { middle: end + height / 2.0, half: height / 2.0 });
        end += height + if height > 0.0 { RANK_GAP / 2.0 } else { 0.0 };
    }
    (ranks, (end - RANK_GAP / 2.0).max(0.0))
}
